import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** ARX's optimum over the lattice by its loss metric, called twice. Arguments: table, folder of hierarchies, columns, k, limit, begin, output. */
public class ArxFullDomain {
    public static void main(String[] arguments) throws Exception {
        String[] columns = arguments[2].split(",");
        Data data = Data.create(arguments[0], StandardCharsets.UTF_8, ';');
        for (String name : data.getHandle().getNumColumns() > 0 ? names(data) : new String[0]) {
            data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
        }
        for (String name : columns) {
            String path = arguments[1] + "/adult_hierarchy_" + name + ".csv";
            data.getDefinition().setAttributeType(name, Hierarchy.create(path, StandardCharsets.UTF_8, ';'));
        }
        DataHandle output = anonymized(data, arguments);
        double cold = System.currentTimeMillis() / 1e3 - Double.parseDouble(arguments[5]);
        double coldCpu = cpu();
        double peak = peak();
        data.getHandle().release();
        long begin = System.nanoTime();
        output = anonymized(data, arguments);
        double warm = (System.nanoTime() - begin) / 1e9;
        double warmCpu = cpu() - coldCpu;
        write(output, columns, arguments[6]);
        System.out.printf(java.util.Locale.ROOT,
            "{\"cold_s\": %.4f, \"cold_cpu_s\": %.4f, \"warm_s\": %.4f, \"warm_cpu_s\": %.4f, \"peak_mb\": %.1f}%n",
            cold, coldCpu, warm, warmCpu, peak);
    }

    private static String[] names(Data data) {
        String[] names = new String[data.getHandle().getNumColumns()];
        for (int column = 0; column < names.length; column++) {
            names[column] = data.getHandle().getAttributeName(column);
        }
        return names;
    }

    private static DataHandle anonymized(Data data, String[] arguments) throws Exception {
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(new KAnonymity(Integer.parseInt(arguments[3])));
        configuration.setSuppressionLimit(Double.parseDouble(arguments[4]));
        configuration.setQualityModel(Metric.createLossMetric());
        return new ARXAnonymizer().anonymize(data, configuration).getOutput(false);
    }

    private static void write(DataHandle output, String[] columns, String path) throws Exception {
        try (PrintWriter writer = new PrintWriter(path, StandardCharsets.UTF_8)) {
            for (int row = 0; row < output.getNumRows(); row++) {
                if (output.isOutlier(row)) {
                    continue;
                }
                StringBuilder line = new StringBuilder();
                for (String name : columns) {
                    line.append(line.length() > 0 ? ";" : "").append(output.getValue(row, output.getColumnIndexOf(name)));
                }
                writer.println(line);
            }
        }
    }

    private static double cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
    }

    private static double peak() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024;
            }
        }
        return Double.NaN;
    }
}
