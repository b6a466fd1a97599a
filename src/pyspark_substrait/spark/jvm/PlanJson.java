import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.ScalaReflection$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef; // since 4.0
import org.apache.spark.sql.catalyst.expressions.CommonExpressionId; // since 4.0
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.JsonProtocol;
import org.json4s.JString; // since 4.0
import org.json4s.JsonAST.JString; // before 4.0

/**
 * What the producer asks the JVM in one call, as JSON. See transfer.py.
 *
 * <p>A tree is a list of nodes, depth first, like those of TreeNode.toJSON: a field that holds a child has its number,
 * a tree that is no child is a list of its own, an option without a value is left out. Beyond toJSON there are the
 * evaluation modes, characters, lists of every kind, and what a cast of a text gives. Metadata are left empty.
 */
public final class PlanJson {
    /** Fields of expressions that say nothing about what they mean, or nothing that their children don't say. */
    private static final Set UNTOLD = new HashSet(Arrays.asList(new String[] {
        "branches", "qualifier", "metadata", "explicitMetadata", "nonInheritableMetadataKeys", "resultId"
    }));

    private final ConcurrentHashMap names = new ConcurrentHashMap();

    /** The plan of a query and the schema of its result. */
    public Object query(QueryExecution execution, boolean optimized) throws IOException {
        LogicalPlan plan = optimized ? execution.optimizedPlan() : execution.analyzed();
        StringBuilder out = new StringBuilder(16384).append("{\"schema\":").append(plan.schema().json());
        tree(plan, out.append(",\"plan\":"));
        return Packed.of(out.append('}').toString());
    }

    /** A plan or an expression. */
    public Object tree(TreeNode node) throws IOException {
        StringBuilder out = new StringBuilder(4096);
        tree(node, out);
        return Packed.of(out.toString());
    }

    /** An event of Spark's listeners as Spark logs it. */
    public Object event(SparkListenerEvent event) throws IOException {
        return Packed.of(JsonProtocol.sparkEventToJsonString(event));
    }

    private void tree(TreeNode node, StringBuilder out) {
        out.append('[');
        nodes(node, out);
        out.append(']');
    }

    private void nodes(TreeNode node, StringBuilder out) {
        scala.collection.Seq children = node.children();
        out.append("{\"class\":\"").append(node.getClass().getName());
        out.append("\",\"num-children\":").append(children.length());
        fields(node, children, out);
        out.append('}');
        for (scala.collection.Iterator each = children.iterator(); each.hasNext();) {
            out.append(',');
            nodes((TreeNode) each.next(), out);
        }
    }

    private void fields(TreeNode node, scala.collection.Seq children, StringBuilder out) {
        if (node instanceof Literal) {
            // Spark writes what is in a literal as text
            for (scala.collection.Iterator each = node.jsonFields().iterator(); each.hasNext();) {
                scala.Tuple2 field = (scala.Tuple2) each.next();
                if (!field._1().equals("value")) continue;
                Object text = field._2();
                if (text instanceof JString) string(((JString) text).s(), key("value", out));
                else key("value", out).append("null");
            }
            key("dataType", out).append(((Literal) node).dataType().json());
            return;
        }
        ArrayList values = new ArrayList();
        for (scala.collection.Iterator each = node.productIterator(); each.hasNext();) values.add(each.next());
        for (scala.collection.Iterator each = node.otherCopyArgs().iterator(); each.hasNext();) values.add(each.next());
        String[] names = names(node, values.size());
        int next = 0;
        for (int number = 0; number < names.length; number++) {
            Object value = values.get(number);
            if (value == scala.None$.MODULE$ || node instanceof Expression && UNTOLD.contains(names[number])) continue;
            key(names[number], out);
            int child = value instanceof TreeNode ? child(value, children, next) : -1;
            if (child >= 0) {
                out.append(child);
                next = child + 1;
            } else if (value instanceof scala.collection.Seq) {
                next = list((scala.collection.Seq) value, children, next, out);
            } else {
                value(value, out);
            }
        }
        if (node instanceof Cast) cast((Cast) node, out);
        if (node instanceof CommonExpressionDef) { // since 4.0
            key("deterministic", out).append(((CommonExpressionDef) node).child().deterministic()); // since 4.0
        } // since 4.0
    }

    /** A list in a field: of children, by their numbers, or of values. Returns the number of the child after it. */
    private int list(scala.collection.Seq list, scala.collection.Seq children, int next, StringBuilder out) {
        int[] numbers = new int[list.length()];
        int count = 0;
        for (scala.collection.Iterator each = list.iterator(); each.hasNext(); count++) {
            Object item = each.next();
            int child = item instanceof TreeNode ? child(item, children, next) : -1;
            if (child < 0) {
                value(list, out);
                return next;
            }
            numbers[count] = child;
            next = child + 1;
        }
        out.append('[');
        for (int number = 0; number < count; number++) out.append(number == 0 ? "" : ",").append(numbers[number]);
        out.append(']');
        return next;
    }

    /** The number of a child; -1 for what is none. They mostly stand in the order of the fields. */
    private static int child(Object node, scala.collection.Seq children, int expected) {
        if (expected < children.length() && children.apply(expected) == node) return expected;
        int number = 0;
        for (scala.collection.Iterator each = children.iterator(); each.hasNext(); number++) {
            if (each.next() == node) return number;
        }
        return children.indexOf(node);
    }

    private void cast(Cast cast, StringBuilder out) {
        key("nullable", out).append(cast.nullable());
        if (!(cast.child() instanceof Literal) || !(((Literal) cast.child()).value() instanceof UTF8String)) return;
        Object found;
        try {
            found = cast.eval(null);
        } catch (RuntimeException error) {
            return; // it may say that when the plan runs
        }
        if (found == null || found instanceof Integer || found instanceof Long) key("folded", out).append(found);
    }

    private String[] names(scala.Product product, int count) {
        String[] known = (String[]) names.get(product.getClass());
        if (known == null) {
            known = new String[count];
            // Scala 2.12, of Spark before 4.0, doesn't know the names of a product's elements
            if (count == product.productArity() && count > 0 && !product.productElementName(0).equals("")) { // since 4.0
                for (int number = 0; number < count; number++) known[number] = product.productElementName(number); // since 4.0
            } else { // since 4.0
                scala.collection.Seq found = ScalaReflection$.MODULE$.getConstructorParameterNames(product.getClass());
                if (found.length() != count) throw new IllegalStateException("fields of " + product.getClass());
                for (int number = 0; number < count; number++) known[number] = (String) found.apply(number);
            } // since 4.0
            names.put(product.getClass(), known);
        }
        if (known.length != count) throw new IllegalStateException("fields of " + product.getClass());
        return known;
    }

    private void value(Object value, StringBuilder out) {
        if (value == null) out.append("null");
        else if (value instanceof Boolean || value instanceof Number || value instanceof scala.math.BigInt) out.append(value);
        else if (value instanceof DataType) out.append(((DataType) value).json());
        else if (value instanceof TreeNode) tree((TreeNode) value, out);
        else if (value instanceof scala.Some) value(((scala.Some) value).value(), out);
        else if (value instanceof Metadata) out.append("{}");
        else if (value instanceof Class) string(((Class) value).getName(), out);
        else if (value instanceof String || value instanceof Character || value instanceof java.util.UUID
                || value instanceof scala.Enumeration.Value) string(value.toString(), out);
        else if (value instanceof ExprId) out.append("{\"id\":").append(((ExprId) value).id()).append('}');
        else if (value instanceof scala.collection.Seq) {
            String separator = "[";
            for (scala.collection.Iterator each = ((scala.collection.Seq) value).iterator(); each.hasNext();) {
                Object item = each.next();
                if (item == scala.None$.MODULE$) continue;
                value(item, out.append(separator));
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value.getClass().getName().endsWith("$")) {
            string(value.getClass().getName(), out.append("{\"object\":"));
            out.append('}');
        } else if (value instanceof CatalogTable) {
            value(((CatalogTable) value).identifier(), out.append("{\"identifier\":"));
            value(((CatalogTable) value).schema(), out.append(",\"schema\":"));
            out.append('}');
        } else if (value instanceof scala.Product && told((scala.Product) value)) {
            product((scala.Product) value, out);
        } else out.append("null");
    }

    /** Whether there is something in a product that the producer reads. */
    private static boolean told(scala.Product value) {
        if (value.getClass().getSimpleName().equals("NumericEvalContext") // not in every release
                || value instanceof CommonExpressionId // since 4.0
                || value instanceof org.apache.spark.sql.types.StructField
                || value instanceof org.apache.spark.sql.catalyst.CatalystIdentifier
                || value instanceof org.apache.spark.sql.catalyst.AliasIdentifier
                || value instanceof org.apache.spark.sql.catalyst.plans.JoinType) return true;
        for (scala.collection.Iterator each = value.productIterator(); each.hasNext();) {
            if (each.next() instanceof TreeNode) return true;
        }
        return false;
    }

    private void product(scala.Product value, StringBuilder out) {
        string(value.getClass().getName(), out.append("{\"product-class\":"));
        String[] names = names(value, value.productArity());
        for (int number = 0; number < names.length; number++) {
            Object item = value.productElement(number);
            if (item != scala.None$.MODULE$) value(item, key(names[number], out));
        }
        out.append('}');
    }

    private static StringBuilder key(String name, StringBuilder out) {
        return out.append(",\"").append(name).append("\":");
    }

    private static void string(String text, StringBuilder out) {
        out.append('"');
        for (int position = 0; position < text.length(); position++) {
            char one = text.charAt(position);
            if (one == '"' || one == '\\') out.append('\\').append(one);
            else if (one < ' ') out.append(String.format("\\u%04x", new Object[] {new Integer(one)}));
            else out.append(one);
        }
        out.append('"');
    }
}
