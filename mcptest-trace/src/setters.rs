//! How a public field is set where its struct may get more.

/// Methods that set a public field each, to the argument of its name or what is made of it:
/// `setters! { Limits { with_most(most: u64) => Some(most); } }`, with `impl ['a]` before a generic type.
macro_rules! setters {
    ($of:ident { $($rows:tt)* }) => {
        setters! { impl [] $of { $($rows)* } }
    };
    (impl [$($generics:tt)*] $of:ty {
        $($method:ident($field:ident: $argument:ty) $(=> $value:expr)?;)+
    }) => {
        impl<$($generics)*> $of {
            $(
                #[doc = concat!("With [`Self::", stringify!($field), "`].")]
                #[must_use]
                pub fn $method(mut self, $field: $argument) -> Self {
                    self.$field = setters!(@ $field $($value)?);
                    self
                }
            )+
        }
    };
    (@ $field:ident) => { $field };
    (@ $field:ident $value:expr) => { $value };
}

pub(crate) use setters;

/// A collection of texts, of whatever becomes texts.
pub(crate) fn texts<C: FromIterator<String>>(
    texts: impl IntoIterator<Item = impl Into<String>>,
) -> C {
    texts.into_iter().map(Into::into).collect()
}
