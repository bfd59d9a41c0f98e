import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

// Generate prints java17.tsv: what Java itself answers. Run it by
// "java Generate.java > java17.tsv" and look at the difference.
public class Generate {
    static final String[] ZONES = {"UTC", "Z", "+5", "+05:30", "UT-02:30", "UTC+5", "+00:00:30",
        "Europe/Berlin", "America/New_York", "Asia/Kolkata"};
    static final String[] PATTERNS = {"yyyy-MM-dd--HH", "yyyy/MM/dd/HHmm", "y u yy uu yyyyy", "G GGGG GGGGG",
        "M MM MMM MMMM MMMMM L LLL", "d dd D DD DDD", "Q QQ QQQ QQQQ QQQQQ q", "E EEEE EEEEE", "h hh K KK k kk H a",
        "m mm s ss S SSS SSSSSSSSS", "A n N nnnnnnnnn", "X XX XXX XXXX XXXXX", "x xx xxx xxxx xxxxx",
        "Z ZZ ZZZ ZZZZ ZZZZZ", "VV", "'a''b'yyyy''dd", "[yyyy][MM]", "\u00fc-dd"};
    static final long[] INSTANTS = {0, -1, 951782400123L, 253402300800000L, -2208988800000L, -62198755200000L,
        1774745999999L, 1774746000000L, // Berlin's clocks go forward
        1792889999999L, 1792890000000L, // and back
        1772953200000L, 1793509200000L}; // New York's

    public static void main(String[] args) {
        for (String zone : ZONES) {
            for (String pattern : PATTERNS) {
                DateTimeFormatter f = DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneId.of(zone));
                for (long instant : INSTANTS) {
                    System.out.println(zone + "\t" + pattern + "\t" + instant + "\t" + f.format(Instant.ofEpochMilli(instant)));
                }
            }
        }
    }
}
