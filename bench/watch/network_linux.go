package watch

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// networked are the types of file systems (statfs(2)) whose files may be changed by another
// machine, or by a process behind FUSE that the kernel does not see.
var networked = map[uint32]bool{
	unix.NFS_SUPER_MAGIC:   true,
	unix.SMB_SUPER_MAGIC:   true,
	unix.CIFS_SUPER_MAGIC:  true,
	unix.SMB2_SUPER_MAGIC:  true,
	unix.AFS_SUPER_MAGIC:   true,
	unix.AFS_FS_MAGIC:      true,
	unix.CODA_SUPER_MAGIC:  true,
	unix.CEPH_SUPER_MAGIC:  true,
	unix.V9FS_MAGIC:        true,
	unix.FUSE_SUPER_MAGIC:  true,
	unix.OCFS2_SUPER_MAGIC: true,
	0x0bd00bd0:             true, // Lustre
	0x47504653:             true, // GPFS
	0x01161970:             true, // GFS2
	0x786f4256:             true, // VirtualBox's shared folders
	0xbacbacbc:             true, // VMware's
}

// onNetwork tells whether other machines may change what is in a directory.
func onNetwork(dir string) (bool, error) {
	var s unix.Statfs_t
	for {
		err := unix.Statfs(dir, &s)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false, &fs.PathError{Op: "statfs", Path: dir, Err: err}
		}
		// The type of the field differs between architectures; all magic numbers have 32 bits.
		return networked[uint32(s.Type)], nil
	}
}
