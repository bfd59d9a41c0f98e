// Command auto measures how many blind changes of a package its own tests notice.
//
//	auto [-parallel N] [-limit D] [-list] [PACKAGE]
//
// PACKAGE is a directory below the root of the module, sinkcore if none is given. The
// changes are:
//
//	negated    a comparison or another condition is turned round
//	boundary   < becomes <=, > becomes >=, and back
//	logical    && becomes ||, and back
//	arithmetic + becomes -, and back; * becomes +
//	deleted    a call, an assignment, a ++ or a -- is left out, or a break or continue
//	swallowed  return err becomes return nil
//
// All changes are compiled into one test binary, each behind a test of one variable that
// an environment variable sets, so the package is compiled once and not once for each
// change. The source is not touched: the changed files are laid over it with the
// -overlay flag of the go command. Changes that do not compile are dropped.
//
// A change that the tests never reach counts as not covered. The others are killed if a
// test fails, panics or takes more processor time than the limit, tried first with the
// tests that are quick, or have survived. Output is the score and the list of survivors.
package main
