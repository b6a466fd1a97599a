"""The classes of Catalyst that the rows of each table mean, so that a table is only imported for a class that it has.

A test compares them with the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CLASSES"]

#: the classes by the extension, in the order in which the tables are searched
CLASSES: Final[Mapping[str, frozenset[str]]] = {
    urn: frozenset(names.split())
    for urn, names in {
        "extension:io.substrait:functions_aggregate_generic": "Count",
        "extension:io.substrait:functions_arithmetic": (
            "Add Subtract Multiply IntegralDivide Remainder Pow UnaryMinus Abs Signum Sqrt BitwiseNot BitwiseAnd "
            "BitwiseOr BitwiseXor Exp Sinh Cosh Tanh Sin Cos Tan Asinh Acosh Atanh Asin Acos Atan ToRadians "
            "ToDegrees Atan2 Sum Min Max Corr StddevSamp StddevPop VarianceSamp VariancePop"
        ),
        "extension:io.substrait:functions_arithmetic_decimal": "Add Subtract Multiply Remainder Sum Min Max",
        "extension:io.substrait:functions_boolean": "And Or Not BoolAnd BoolOr",
        "extension:io.substrait:functions_comparison": (
            "EqualTo LessThan LessThanOrEqual GreaterThan GreaterThanOrEqual EqualNullSafe IsNull IsNotNull Coalesce "
            "Least Greatest"
        ),
        "extension:io.substrait:functions_datetime": (
            "Year YearOfWeek Hour HoursOfTime Minute MinutesOfTime Second SecondsOfTime Quarter Month DayOfMonth "
            "DayOfYear WeekDay DayOfWeek WeekOfYear DateAddYMInterval TimestampAddYMInterval Add Min Max"
        ),
        "extension:io.substrait:functions_list": "ArraySize",
        "extension:io.substrait:functions_string": (
            "StartsWith EndsWith Contains StringInstr StringReplace Lower Upper Concat ConcatWs Reverse Substring "
            "Left Right Length BitLength OctetLength StringTrimLeft StringTrimRight StringTrim StringLPad StringRPad"
        ),
        "extension:pyspark_substrait:functions_spark": (
            "Md5 Sha1 Sha2 Crc32 Hmac AesEncrypt AesDecrypt Bin Hex Unhex Conv BitwiseCount BitwiseGet "
            "BitmapBitPosition BitmapBucketNumber BitmapCount GetJsonObject LengthOfJsonArray JsonObjectKeys "
            "XPathList XPathBoolean XPathShort XPathInt XPathLong XPathFloat XPathDouble XPathString ParseUrl "
            "UrlEncode UrlDecode Luhncheck IsValidUTF8 MakeValidUTF8 ValidateUTF8 TryValidateUTF8 Base32 UnBase32 "
            "JaroWinkler TimeFromSeconds TimeFromMillis TimeFromMicros TimeToSeconds TimeToMillis TimeToMicros "
            "MonotonicallyIncreasingID SparkPartitionID InputFileName InputFileBlockStart InputFileBlockLength "
            "CurrentUser CurrentCatalog CurrentDatabase CurrentPath SparkVersion HllSketchEstimate HllUnion "
            "ThetaSketchEstimate ThetaUnion ThetaIntersection ThetaDifference VectorCosineSimilarity "
            "VectorInnerProduct VectorL2Distance VectorNorm VectorNormalize KllSketchGetNBigint KllSketchGetNFloat "
            "KllSketchGetNDouble KllSketchMergeBigint KllSketchMergeFloat KllSketchMergeDouble "
            "KllSketchToStringBigint KllSketchToStringFloat KllSketchToStringDouble KllSketchGetQuantileBigint "
            "KllSketchGetQuantileFloat KllSketchGetQuantileDouble KllSketchGetRankBigint KllSketchGetRankFloat "
            "KllSketchGetRankDouble TupleSketchEstimateDouble TupleSketchEstimateInteger TupleSketchThetaDouble "
            "TupleSketchThetaInteger TupleSketchSummaryDouble TupleSketchSummaryInteger TupleUnionDouble "
            "TupleUnionInteger TupleUnionThetaDouble TupleUnionThetaInteger TupleIntersectionDouble "
            "TupleIntersectionInteger TupleIntersectionThetaDouble TupleIntersectionThetaInteger "
            "TupleDifferenceDouble TupleDifferenceInteger TupleDifferenceThetaDouble TupleDifferenceThetaInteger"
        ),
        "extension:pyspark_substrait:functions_spark_aggregate": (
            "BitAndAgg BitOrAgg BitXorAgg Sum Average Kurtosis Skewness CovPopulation CovSample RegrSlope "
            "RegrIntercept RegrR2 RegrSXX RegrSXY RegrSYY Median CountMinSketchAgg BitmapConstructAgg BitmapOrAgg "
            "BitmapAndAgg HllSketchAgg HllUnionAgg ThetaSketchAgg ThetaUnionAgg ThetaIntersectionAgg "
            "KllSketchAggBigint KllSketchAggFloat KllSketchAggDouble KllMergeAggBigint KllMergeAggFloat "
            "KllMergeAggDouble TupleSketchAggDouble TupleSketchAggInteger TupleUnionAggDouble TupleUnionAggInteger "
            "TupleIntersectionAggDouble TupleIntersectionAggInteger VectorAvg VectorSum MaxBy MinBy HistogramNumeric "
            "ApproxTopK"
        ),
        "extension:pyspark_substrait:functions_spark_arithmetic": (
            "Add Subtract Multiply IntegralDivide Divide Remainder Pmod UnaryMinus Abs ShiftLeft ShiftRight "
            "ShiftRightUnsigned BitwiseCount BitwiseGet Cbrt Expm1 Rint Cot Sec Csc Hypot Logarithm Factorial Ceil "
            "Floor Round BRound WidthBucket"
        ),
        "extension:pyspark_substrait:functions_spark_collection": (
            "ArrayDistinct ArrayUnion ArrayIntersect ArrayExcept ArraysOverlap ArraysZip ArrayPosition ArrayRemove "
            "ArrayRepeat Slice Flatten ArrayMin ArrayMax ArrayJoin ArrayAppend ArrayPrepend ArrayCompact Reverse "
            "Concat Sequence MapKeys MapValues MapEntries MapFromEntries MapFromArrays MapConcat MapContainsKey "
            "StringToMap"
        ),
        "extension:pyspark_substrait:functions_spark_datetime": (
            "DateAdd DateSub DateDiff SubtractDates SubtractTimes TimeAddInterval LastDay NextDay MonthsBetween "
            "MakeDate MakeTimestampNTZ MakeTime MakeDTInterval MakeYMInterval ToTime UnixMillis UnixMicros UnixDate "
            "DateFromUnixDate SecondsToTimestamp FromUTCTimestamp ToUTCTimestamp ConvertTimezone SecondWithFraction "
            "SecondsOfTimeWithFraction MonthName DayName TimeTrunc TimeDiff MultiplyDTInterval MultiplyYMInterval "
            "Abs Signum TimeFromSeconds TimeToSeconds TimeFromMillis TimeToMillis TimeFromMicros TimeToMicros "
            "DivideDTInterval DivideYMInterval ExtractANSIIntervalDays ExtractANSIIntervalHours "
            "ExtractANSIIntervalMinutes ExtractANSIIntervalSeconds ExtractANSIIntervalYears "
            "ExtractANSIIntervalMonths"
        ),
        "extension:pyspark_substrait:functions_spark_statistics": "Min Max Sum Average Product",
        "extension:pyspark_substrait:functions_spark_string": (
            "InitCap Concat Substring Length OctetLength BitLength Reverse Left StringTranslate StringLocate Ascii "
            "Chr StringSpace SoundEx Levenshtein Overlay FormatString FormatNumber UnBase64 ToBinary Elt FindInSet "
            "Sentences Mask ToCharacter StringSplit SplitPart SubstringIndex StringInstrWithOccurrence Quote RLike "
            "RegExpReplace RegExpExtract RegExpExtractAll RegExpCount RegExpInStr RegExpSubStr"
        ),
    }.items()
}
