//! Names of the values that users choose from: written once, on the type.
//!
//! The program's options, its help, Python's keywords and every message read them from
//! here. The same names stand in model files.

use crate::error::Error;

/// An enum whose values users name.
pub trait Named: Copy + PartialEq + Send + Sync + 'static {
    /// What is chosen, for messages: `weighting`.
    const WHAT: &'static str;

    /// All values, in the order in which they are offered.
    const ALL: &'static [Self];

    /// The value's name.
    fn name(self) -> &'static str;

    /// What the value stands for, in a few words.
    fn description(self) -> &'static str;

    /// The value of this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] lists the names there are.
    fn from_name(name: &str) -> Result<Self, Error>;
}

/// Implements [`Named`], `Display` and `FromStr`.
macro_rules! names {
    ($type:ident, $what:literal: $value:ident $first:literal $about_first:literal
     $(, $variant:ident $name:literal $about:literal)* $(,)?) => {
        impl $crate::names::Named for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = &[$type::$value $(, $type::$variant)*];

            fn name(self) -> &'static str {
                match self {
                    $type::$value => $first,
                    $($type::$variant => $name),*
                }
            }

            fn description(self) -> &'static str {
                match self {
                    $type::$value => $about_first,
                    $($type::$variant => $about),*
                }
            }

            fn from_name(name: &str) -> Result<Self, $crate::Error> {
                let named = |value: &&Self| $crate::names::Named::name(**value) == name;
                <Self as $crate::names::Named>::ALL.iter().find(named).copied().ok_or_else(|| {
                    $crate::Error::InvalidParameter {
                        name: $what,
                        value: name.to_owned(),
                        requirement: concat!("one of ", $first $(, ", ", $name)*),
                    }
                })
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::names::Named::name(*self))
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::names::Named::from_name(name)
            }
        }
    };
}
pub(crate) use names;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::PostProcessing;
    use crate::text::Case;
    use crate::{
        Similarity, Weighting,
        random_documents::RandomWords,
        space::{Normalization, UnknownWords},
    };

    /// Files hold the names that users read.
    fn agree<T: Named + serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug>() {
        for &value in T::ALL {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(json, format!("{:?}", value.name()));
            assert_eq!(serde_json::from_str::<T>(&json).unwrap(), value);
            assert_eq!(T::from_name(value.name()).unwrap(), value);
            assert!(!value.description().is_empty());
        }
    }

    #[test]
    fn every_value_is_listed_once_and_named_as_in_files() {
        agree::<Weighting>();
        agree::<Normalization>();
        agree::<RandomWords>();
        agree::<PostProcessing>();
        agree::<Case>();
        agree::<UnknownWords>();
        assert_eq!(Similarity::from_name("wmd").unwrap(), Similarity::Wmd);
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        assert_eq!(
            "bm25".parse::<Weighting>().unwrap_err().to_string(),
            "weighting is bm25: it must be one of nbow, tfidf, sif"
        );
        assert_eq!(format!("{:>6}|", Weighting::Nbow), "  nbow|");
    }
}
