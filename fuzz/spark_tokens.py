"""Spark's own lexer: whether two statements are the same tokens, and what is outside of literals and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Tokens"]

_SOURCE = r"""
import java.util.ArrayList;
import java.util.List;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.Token;
import org.apache.spark.sql.catalyst.parser.ParserUtils;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.UpperCaseCharStream;
import org.apache.spark.sql.internal.VariableSubstitution;

public final class Tokens {
    private List tokens(String text) {
        SqlBaseLexer lexer = new SqlBaseLexer(new UpperCaseCharStream(CharStreams.fromString(text)));
        lexer.removeErrorListeners();
        List found = new ArrayList();
        List all = lexer.getAllTokens();
        for (int i = 0; i < all.size(); i++) {
            Token token = (Token) all.get(i);
            if (token.getType() != SqlBaseLexer.WS) found.add(token);
        }
        return found;
    }

    private boolean holds(Token token) {
        return token.getType() == SqlBaseLexer.STRING_LITERAL || token.getType() == SqlBaseLexer.BACKQUOTED_IDENTIFIER;
    }

    private String value(Token token) {
        if (token.getType() == SqlBaseLexer.STRING_LITERAL) return ParserUtils.string(token);
        String text = token.getText();
        return text.substring(1, text.length() - 1).replace("``", "`");
    }

    /** What of a text is neither a name nor a value, and has the mark, or is a comment, or no token; "" for nothing. */
    public String escapedFrom(String text, String mark) {
        if (!new VariableSubstitution().substitute(text).equals(text)) return "a variable is substituted";
        List found = tokens(text);
        for (int i = 0; i < found.size(); i++) {
            Token token = (Token) found.get(i);
            int type = token.getType();
            if (type == SqlBaseLexer.UNRECOGNIZED) return "no token: " + token.getText();
            if (token.getChannel() != Token.DEFAULT_CHANNEL) return "a comment: " + token.getText();
            if (type == SqlBaseLexer.SEMICOLON) return "a semicolon";
            if (!holds(token) && token.getText().toLowerCase().contains(mark)) return "a token: " + token.getText();
        }
        return "";
    }

    /** How the tokens of two texts differ; "" if only in literals and names that hold these strings. */
    public String difference(String wanted, String found, String harmless, String hostile) {
        List left = tokens(wanted), right = tokens(found);
        if (left.size() != right.size()) return left.size() + " tokens, and " + right.size();
        for (int i = 0; i < left.size(); i++) {
            Token a = (Token) left.get(i), b = (Token) right.get(i);
            if (a.getType() != b.getType()) return a.getText() + ", and " + b.getText();
            if (a.getText().equals(b.getText())) continue;
            if (!holds(a)) return a.getText() + ", and " + b.getText();
            if (!value(a).replace(harmless, hostile).equals(value(b))) return "other value: " + b.getText();
        }
        return "";
    }

    /** What Spark's parser makes of a text: its plan, or why it refuses the text. */
    public String parsed(String text) {
        try {
            return new org.apache.spark.sql.execution.SparkSqlParser().parsePlan(text).getClass().getSimpleName();
        } catch (Exception error) {
            return "refused: " + error.getMessage();
        }
    }
}
"""


class Tokens:
    """Spark's lexer and parser.

    Args:
        spark: a classic session.
    """

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        compiler.cook(_SOURCE)
        self._java = compiler.getClassLoader().loadClass("Tokens").newInstance()

    def escaped_from(self, text: str, mark: str) -> str:
        """Return what of a statement is not a literal or a quoted name and has a mark, or is a comment; else ``""``."""
        return str(self._java.escapedFrom(text, mark))

    def difference(self, wanted: str, found: str, harmless: str, hostile: str) -> str:
        """Return how two statements differ, except in literals and names with those strings; ``""`` if they don't."""
        return str(self._java.difference(wanted, found, harmless, hostile))

    def parsed(self, text: str) -> str:
        """Return the kind of plan that Spark's parser makes of a statement, or ``refused: …``."""
        return str(self._java.parsed(text))
