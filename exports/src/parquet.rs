//! Tables as Parquet files.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::table::{Table, Values};

/// Returns the table as a file with one row group.
pub(crate) fn write(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let columns = table.columns.iter().map(|column| {
        let (physical, logical) = match &column.values {
            Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Integers(_) => (Physical::INT64, None),
            Values::Reals(_) => (Physical::DOUBLE, None),
            Values::Truths(_) => (Physical::BOOLEAN, None),
        };
        let builder = Type::primitive_type_builder(column.name, physical);
        builder.with_logical_type(logical).with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    });
    let schema = Type::group_type_builder(table.name).with_fields(columns.collect::<Result<_, _>>()?).build()?;
    // Otherwise the file would tell which release of the library wrote it.
    let properties = WriterProperties::builder().set_created_by("simutant".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in &table.columns {
        let mut writer = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
        match &column.values {
            Values::Text(values) => {
                let values: Vec<Option<ByteArray>> =
                    values.iter().map(|value| value.as_ref().map(|text| text.as_str().into())).collect();
                write_values::<ByteArrayType>(&mut writer, &values)?;
            }
            Values::Integers(values) => write_values::<Int64Type>(&mut writer, values)?,
            Values::Reals(values) => write_values::<DoubleType>(&mut writer, values)?,
            Values::Truths(values) => write_values::<BoolType>(&mut writer, values)?,
        }
        writer.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// Writes values, and for each row whether it has one.
fn write_values<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<T::T>],
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let defined: Vec<T::T> = values.iter().flatten().cloned().collect();
    writer.typed::<T>().write_batch(&defined, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    #[test]
    fn a_table_is_read_back() {
        let table = Table::new("example", "An example")
            .texts("name", [Some("é".to_owned()), None, Some(String::new())])
            .integer("count", [1_u64, 2, i64::MAX as u64])
            .real("share", [Some(0.1), None, Some(-1e-300)])
            .truth("holds", [true, false, true]);
        let bytes = write(&table).expect("it can be written");
        assert_eq!(bytes, write(&table).expect("it can be written"), "the same table gives the same bytes");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .expect("it has rows")
            .map(|row| row.expect("a row").get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let text = |text: &str| Field::Str(text.into());
        assert_eq!(
            rows,
            [
                [text("é"), Field::Long(1), Field::Double(0.1), Field::Bool(true)],
                [Field::Null, Field::Long(2), Field::Null, Field::Bool(false)],
                [text(""), Field::Long(i64::MAX), Field::Double(-1e-300), Field::Bool(true)],
            ]
        );
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let bytes = write(&Table::new("empty", "Nothing").integer("count", [0_u8; 0])).expect("it can be written");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.metadata().file_metadata().schema_descr().column(0).name(), "count");
    }
}
