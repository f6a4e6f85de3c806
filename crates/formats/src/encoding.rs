//! How data become the inputs of a program: what is about the data and not in the program.
//!
//! A file of parameters contains the encoding of the data that they were learnt from, so that other data are
//! read in the same way: the note is JSON with the columns and the categories, and two tensors for each
//! normalised input have its means and deviations.

use eddy_tensor::Value;
use serde_json::{Map, Value as Json, json};

use crate::categories::Categories;
use crate::mapping::Mapping;
use crate::saved::Saved;

/// How data become inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoding {
    /// Columns of other names, and several columns as one input.
    pub columns: Vec<Mapping>,
    /// The columns of the target of training, if they have another name than its input.
    pub target: Option<String>,
    /// The texts of columns of texts.
    pub categories: Vec<Categories>,
    /// Texts that stand for absence.
    pub missing: Vec<String>,
    /// Whether an input of several columns is absent if one of them is.
    pub skips_missing: bool,
    /// Inputs that are normalised.
    pub normalised: Vec<Normalised>,
}

/// An input from which its mean is subtracted, and which is then divided by its deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    pub input: String,
    pub mean: Value,
    pub deviation: Value,
}

/// Tensors of this prefix are no parameters: names of parameters have no colon.
const PREFIX: &str = "input:";
const MEAN: &str = ":mean";
const DEVIATION: &str = ":deviation";

impl Encoding {
    /// Whether data are read as they are.
    pub fn is_empty(&self) -> bool {
        *self == Encoding::default()
    }

    /// Parameters with this encoding, as a file.
    pub fn with_parameters(&self, parameters: Vec<(String, Value)>) -> Saved {
        let mut values = parameters;
        for Normalised { input, mean, deviation } in &self.normalised {
            values.push((format!("{PREFIX}{input}{MEAN}"), mean.clone()));
            values.push((format!("{PREFIX}{input}{DEVIATION}"), deviation.clone()));
        }
        let note = if self.is_empty() { String::new() } else { self.to_json().to_string() };
        Saved { values, note }
    }

    /// The parameters of a file, and its encoding; or the reason why it is damaged.
    pub fn split(saved: Saved) -> Result<(Vec<(String, Value)>, Encoding), String> {
        let Saved { values, note } = saved;
        let (inputs, parameters): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|(name, _)| name.starts_with(PREFIX));
        // Files of others may have any note.
        let json: Json = serde_json::from_str(&note).unwrap_or_default();
        let mut encoding = Encoding::from_json(&json)?;
        for (name, mean) in &inputs {
            let Some(input) = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(MEAN)) else {
                continue;
            };
            let wanted = format!("{PREFIX}{input}{DEVIATION}");
            let deviation = inputs.iter().find(|(name, _)| *name == wanted);
            let (_, deviation) = deviation.ok_or_else(|| format!("it has no `{wanted}`"))?;
            if deviation.ty() != mean.ty() {
                return Err(format!("`{name}` is {} and `{wanted}` is {}", mean.ty(), deviation.ty()));
            }
            let (mean, deviation) = (mean.to_num64(), deviation.to_num64());
            encoding.normalised.push(Normalised { input: input.to_string(), mean, deviation });
        }
        if 2 * encoding.normalised.len() != inputs.len() {
            return Err("a mean or a deviation of an input is lost".to_string());
        }
        Ok((parameters, encoding))
    }

    /// All but the numbers, as JSON.
    pub fn to_json(&self) -> Json {
        let columns: Map<String, Json> =
            self.columns.iter().map(|mapping| (mapping.input.clone(), json!(mapping.columns()))).collect();
        let categories: Map<String, Json> =
            self.categories.iter().map(|table| (table.column.clone(), json!(table.texts))).collect();
        let normalised: Vec<&str> = self.normalised.iter().map(|input| input.input.as_str()).collect();
        json!({
            "columns": columns,
            "target": self.target,
            "categories": categories,
            "missing": self.missing,
            "skips_missing": self.skips_missing,
            "normalised": normalised,
        })
    }

    fn from_json(json: &Json) -> Result<Encoding, String> {
        let damaged = |what: &str| format!("its {what} cannot be read");
        let texts = |json: &Json, what: &str| -> Result<Vec<String>, String> {
            let texts = json.as_array().ok_or_else(|| damaged(what))?.iter();
            texts.map(|text| text.as_str().map(str::to_string).ok_or_else(|| damaged(what))).collect()
        };
        let mut encoding = Encoding::default();
        for (input, columns) in json.get("columns").and_then(Json::as_object).into_iter().flatten() {
            let columns = columns.as_str().ok_or_else(|| damaged("columns"))?;
            encoding.columns.push(Mapping::new(input, columns)?);
        }
        for (column, known) in json.get("categories").and_then(Json::as_object).into_iter().flatten() {
            encoding.categories.push(Categories::closed(column, texts(known, "categories")?));
        }
        encoding.target = json.get("target").and_then(Json::as_str).map(str::to_string);
        if let Some(missing) = json.get("missing") {
            encoding.missing = texts(missing, "missing texts")?;
        }
        encoding.skips_missing = json.get("skips_missing").and_then(Json::as_bool).unwrap_or(false);
        Ok(encoding)
    }

    /// This encoding with the columns, the categories and the missing texts of another one, where it has
    /// some.
    #[must_use]
    pub fn overridden_by(mut self, other: &Encoding) -> Encoding {
        self.columns.retain(|mapping| other.columns.iter().all(|new| new.input != mapping.input));
        self.columns.extend(other.columns.iter().cloned());
        let is_new = |table: &&Categories| self.categories.iter().all(|known| known.column != table.column);
        let new: Vec<Categories> = other.categories.iter().filter(is_new).cloned().collect();
        self.categories.extend(new);
        if !other.missing.is_empty() {
            self.missing.clone_from(&other.missing);
        }
        if other.target.is_some() {
            self.target.clone_from(&other.target);
        }
        self.skips_missing |= other.skips_missing;
        self
    }
}

#[cfg(test)]
mod tests {
    use eddy_tensor::{Data, Shape};

    use super::*;

    fn vector(elements: &[f64]) -> Value {
        Value::new(Shape::new(&[elements.len()]), Data::Num(elements.to_vec())).expect("as many as the shape")
    }

    #[test]
    fn a_file_gives_back_parameters_and_encoding() {
        let encoding = Encoding {
            columns: vec![Mapping::parse("x=a b,\"c,d\"").expect("it is right")],
            categories: vec![Categories::closed("kind", vec!["red".to_string(), "grün".to_string()])],
            target: Some("price".to_string()),
            missing: vec!["-".to_string()],
            skips_missing: true,
            normalised: vec![Normalised {
                input: "x".to_string(),
                mean: vector(&[0.1, -1e300]),
                deviation: vector(&[1.0, 1.0 / 3.0]),
            }],
        };
        let parameters = vec![("k".to_string(), Value::Num(1.5))];
        let bytes = encoding.with_parameters(parameters.clone()).encode().expect("all types are known");
        let saved = Saved::decode(&bytes).expect("it was just written");
        assert_eq!(Encoding::split(saved), Ok((parameters, encoding)));
    }

    #[test]
    fn a_file_without_an_encoding_is_as_before() {
        let parameters = vec![("k".to_string(), Value::Num(1.5))];
        let saved = Encoding::default().with_parameters(parameters.clone());
        assert_eq!(saved.note, "");
        assert_eq!(Encoding::split(saved), Ok((parameters, Encoding::default())));
    }

    #[test]
    fn half_of_an_encoding_is_refused() {
        let values = vec![("input:x:mean".to_string(), Value::Num(1.5))];
        let split = Encoding::split(Saved { values, note: String::new() });
        assert_eq!(split, Err("it has no `input:x:deviation`".to_string()));
    }
}
