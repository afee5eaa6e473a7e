//! Expressions: which part of the context they refer to, and what they reveal about it.

use minijinja::{
    Value,
    machinery::ast::{BinOpKind, Call, CallArg, Expr, Filter, UnaryOpKind},
    value::ValueKind,
};

use super::{Purpose, Walk};
use crate::{
    analysis::shape::{Shape, ShapeId, Types},
    language::translations::FUNCTION,
};

impl<'a> Walk<'a> {
    /// Records an expression and returns the part of the context that it refers to, if any.
    pub(super) fn expression(&mut self, expression: &Expr<'a>, purpose: Purpose) -> Option<ShapeId> {
        let found = match expression {
            Expr::Var(name) => self.resolve(name.id),
            Expr::GetAttr(attribute) => {
                let base = self.expression(&attribute.expr, Purpose::Use);
                base.and_then(|base| self.shapes.member(base, attribute.name))
            }
            Expr::GetItem(item) => {
                let base = self.expression(&item.expr, Purpose::Use);
                let key = self.key(&item.subscript_expr);
                match (base, key) {
                    (Some(base), Some(Key::Name(name))) => self.shapes.member(base, &name),
                    (Some(base), Some(Key::Number)) => self.shapes.elements(base),
                    (Some(base), None) => {
                        self.shapes.change(base, |shape| shape.whole = true);
                        None
                    }
                    (None, _) => None,
                }
            }
            Expr::Slice(slice) => {
                for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
                    self.consumed(bound);
                }
                self.expression(&slice.expr, purpose)
            }
            Expr::Filter(filter) => return self.filter(filter, purpose),
            Expr::IfExpr(condition) => {
                self.expression(&condition.test_expr, Purpose::Ask);
                let found = self.expression(&condition.true_expr, purpose);
                let other = condition
                    .false_expr
                    .as_ref()
                    .and_then(|other| self.expression(other, purpose));
                found.or(other)
            }
            Expr::BinOp(operation) => self.operation(operation.op, &operation.left, &operation.right, purpose),
            Expr::UnaryOp(operation) => match operation.op {
                UnaryOpKind::Not => {
                    self.expression(&operation.expr, Purpose::Ask);
                    None
                }
                UnaryOpKind::Neg => {
                    let number = self.consumed(&operation.expr);
                    self.narrow(number, Types::NUMBER);
                    None
                }
            },
            Expr::Compare(compare) => {
                let mut left = &compare.expr;
                for operand in &compare.ops {
                    self.comparison(left, &operand.expr);
                    left = &operand.expr;
                }
                None
            }
            Expr::Test(test) => {
                self.arguments(&test.args);
                self.expression(&test.expr, Purpose::Ask);
                None
            }
            Expr::Call(call) => return self.call(call),
            Expr::List(list) => self.all(&list.items),
            Expr::Tuple(tuple) => self.all(&tuple.items),
            Expr::Map(map) => self.all(&map.keys).or(self.all(&map.values)),
            Expr::Const(_) => None,
        };
        if let Some(found) = found {
            self.shapes.change(found, |shape| match purpose {
                Purpose::Use => shape.needed = true,
                Purpose::Ask => shape.asked_for = true,
                Purpose::Pass => {}
            });
        }
        found
    }

    /// Records an expression whose value is used as a whole.
    pub(super) fn consumed(&mut self, expression: &Expr<'a>) -> Option<ShapeId> {
        let found = self.expression(expression, Purpose::Use)?;
        self.shapes.change(found, |shape| shape.whole = true);
        Some(found)
    }

    pub(super) fn narrow(&mut self, found: Option<ShapeId>, types: Types) {
        if let Some(found) = found {
            self.shapes.narrow(found, types);
        }
    }

    /// Records a call. Everything that a macro's body reveals about its parameters applies to the arguments.
    pub(super) fn call(&mut self, call: &Call<'a>) -> Option<ShapeId> {
        if let Some(parameters) = self.parameters(&call.expr) {
            for (number, argument) in call.args.iter().enumerate() {
                let (parameter, value) = match argument {
                    CallArg::Pos(value) => (parameters.get(number), value),
                    CallArg::Kwarg(name, value) => (parameters.iter().find(|(known, _)| known == name), value),
                    CallArg::PosSplat(value) | CallArg::KwargSplat(value) => (None, value),
                };
                let argument = self.expression(value, Purpose::Pass);
                if let (Some((_, parameter)), Some(argument)) = (parameter, argument) {
                    self.shapes.copy(*parameter, argument);
                }
            }
            return None;
        }
        match &call.expr {
            Expr::Var(name) => {
                self.calls_super |= name.id == "super";
                if name.id == FUNCTION && !self.defines(FUNCTION) {
                    self.texts.add(call, self.partial);
                }
                self.arguments(&call.args);
                None
            }
            Expr::GetAttr(method) => {
                let of = self.expression(&method.expr, Purpose::Use);
                self.arguments(&call.args);
                let of = of?;
                match method.name {
                    "items" => self.pairs(of),
                    "values" => {
                        let elements = self.shapes.values(of);
                        self.list_of(elements)
                    }
                    _ => {
                        self.shapes.change(of, |shape| shape.whole = true);
                        None
                    }
                }
            }
            other => {
                self.expression(other, Purpose::Pass);
                self.arguments(&call.args);
                None
            }
        }
    }

    /// Returns the parameters of a macro that is called by its name, or as a member of an imported partial.
    fn parameters(&self, called: &Expr<'a>) -> Option<Vec<(&'a str, ShapeId)>> {
        let (macros, name) = match called {
            Expr::Var(name) => (&self.macros, name.id),
            Expr::GetAttr(member) => match &member.expr {
                Expr::Var(module) => (self.modules.get(module.id)?, member.name),
                _ => return None,
            },
            _ => return None,
        };
        macros.get(name).cloned()
    }

    fn filter(&mut self, filter: &Filter<'a>, purpose: Purpose) -> Option<ShapeId> {
        self.arguments(&filter.args);
        self.settings(filter.name);
        let subject = filter.expr.as_ref()?;
        let attribute = attribute(filter);
        match filter.name {
            "default" | "d" => self.expression(subject, Purpose::Ask),
            "sort" | "reverse" | "unique" | "list" | "select" | "reject" | "selectattr" | "rejectattr" => {
                let (list, elements) = self.list(subject, purpose)?;
                if let Some(path) = attribute {
                    self.shapes.at_path(elements, &path);
                }
                Some(list)
            }
            "first" | "last" | "min" | "max" => {
                let (_, elements) = self.list(subject, purpose)?;
                Some(elements)
            }
            "map" => {
                let (_, elements) = self.list(subject, purpose)?;
                let mapped = attribute.and_then(|path| self.used_path(elements, &path));
                self.list_of(mapped)
            }
            "sum" => {
                let (_, elements) = self.list(subject, purpose)?;
                let number = match attribute {
                    Some(path) => self.used_path(elements, &path),
                    None => Some(elements),
                };
                self.narrow(number, Types::NUMBER);
                None
            }
            "join" => {
                let (_, elements) = self.list(subject, purpose)?;
                let printed = match attribute.filter(|_| has_argument(filter, "attribute")) {
                    Some(path) => self.used_path(elements, &path),
                    None => Some(elements),
                };
                self.narrow(printed, Types::PRINTABLE);
                None
            }
            "groupby" => {
                let (list, elements) = self.list(subject, purpose)?;
                let grouper = attribute.and_then(|path| self.used_path(elements, &path));
                let group = Shape {
                    members: [("grouper", grouper), ("list", Some(list))]
                        .into_iter()
                        .filter_map(|(name, id)| Some((name.to_owned(), id?)))
                        .collect(),
                    parts: vec![grouper, Some(list)],
                    ..Shape::default()
                };
                let group = self.shapes.add(group);
                self.list_of(group)
            }
            "items" | "dictsort" => {
                let of = self.expression(subject, purpose)?;
                self.pairs(of)
            }
            "batch" | "slice" => {
                let list = self.expression(subject, purpose);
                self.list_of(list)
            }
            "length" | "count" => {
                self.expression(subject, purpose);
                None
            }
            name => {
                let subject = self.consumed(subject);
                if let Some(types) = subject_types(name) {
                    self.narrow(subject, types);
                }
                None
            }
        }
    }

    /// Records an expression that refers to a list, and returns the list and its elements.
    fn list(&mut self, expression: &Expr<'a>, purpose: Purpose) -> Option<(ShapeId, ShapeId)> {
        let list = self.expression(expression, purpose)?;
        Some((list, self.shapes.elements(list)?))
    }

    /// Records the variables of the context from which some filters read their settings.
    fn settings(&mut self, filter: &str) {
        let names: &[&str] = match filter {
            "date" | "time" | "datetime" => &["locale", "time_zone"],
            "number" | "percent" | "currency" | "plural" => &["locale"],
            _ => &[],
        };
        for name in names {
            if let Some(setting) = self.resolve(name) {
                self.shapes.narrow(setting, Types::STRING);
            }
        }
    }

    fn operation(
        &mut self,
        operation: BinOpKind,
        left: &Expr<'a>,
        right: &Expr<'a>,
        purpose: Purpose,
    ) -> Option<ShapeId> {
        match operation {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let left = self.expression(left, Purpose::Ask);
                let right = self.expression(right, purpose);
                left.or(right)
            }
            BinOpKind::Add | BinOpKind::Concat => {
                self.consumed(left);
                self.consumed(right);
                None
            }
            BinOpKind::Sub
            | BinOpKind::Mul
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                for operand in [left, right] {
                    let number = self.consumed(operand);
                    self.narrow(number, Types::NUMBER);
                }
                None
            }
            BinOpKind::Eq
            | BinOpKind::Ne
            | BinOpKind::Lt
            | BinOpKind::Lte
            | BinOpKind::Gt
            | BinOpKind::Gte
            | BinOpKind::In => {
                self.comparison(left, right);
                None
            }
        }
    }

    /// Records a comparison. A value compared with a constant has the constant's type.
    fn comparison(&mut self, left: &Expr<'a>, right: &Expr<'a>) {
        let found = [left, right].map(|side| self.expression(side, Purpose::Use));
        for (found, other) in found.into_iter().zip([right, left]) {
            if let Some(types) = other.as_const().as_ref().and_then(constant_types) {
                self.narrow(found, types);
            }
        }
    }

    fn arguments(&mut self, arguments: &[CallArg<'a>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => self.consumed(value),
            };
        }
    }

    fn all(&mut self, expressions: &[Expr<'a>]) -> Option<ShapeId> {
        for expression in expressions {
            self.consumed(expression);
        }
        None
    }

    fn key(&mut self, subscript: &Expr<'a>) -> Option<Key> {
        let Some(constant) = subscript.as_const() else {
            self.consumed(subscript);
            return None;
        };
        match constant.as_str() {
            Some(name) => Some(Key::Name(name.to_owned())),
            None => constant.is_integer().then_some(Key::Number),
        }
    }

    fn used_path(&mut self, of: ShapeId, path: &str) -> Option<ShapeId> {
        let id = self.shapes.at_path(of, path)?;
        self.shapes.change(id, |shape| shape.needed = true);
        Some(id)
    }

    fn list_of(&mut self, elements: Option<ShapeId>) -> Option<ShapeId> {
        self.shapes.add(Shape {
            elements,
            ..Shape::default()
        })
    }

    /// Returns the shape of a list of pairs of name and value.
    fn pairs(&mut self, of: ShapeId) -> Option<ShapeId> {
        let value = self.shapes.values(of);
        let pair = self.shapes.add(Shape {
            parts: vec![None, value],
            ..Shape::default()
        });
        self.list_of(pair)
    }
}

enum Key {
    Name(String),
    Number,
}

/// Returns the attribute that a filter gets, by name or as its first argument.
fn attribute(filter: &Filter) -> Option<String> {
    filter.args.iter().find_map(|argument| match argument {
        CallArg::Pos(value) | CallArg::Kwarg("attribute", value) => value.as_const()?.as_str().map(ToOwned::to_owned),
        _ => None,
    })
}

fn has_argument(filter: &Filter, name: &str) -> bool {
    filter
        .args
        .iter()
        .any(|argument| matches!(argument, CallArg::Kwarg(known, _) if *known == name))
}

/// Returns the types that a filter accepts, if they are known.
fn subject_types(filter: &str) -> Option<Types> {
    Some(match filter {
        "number" | "percent" | "currency" | "plural" | "int" | "float" | "date" | "time" | "datetime" | "qrcode"
        | "barcode" | "urlencode" | "escape" | "e" => Types::AMOUNT,
        "round" | "abs" => Types::NUMBER,
        "upper" | "lower" | "title" | "capitalize" | "trim" | "replace" | "split" | "lines" | "markdown"
        | "truncate" | "indent" => Types::STRING,
        _ => return None,
    })
}

fn constant_types(constant: &Value) -> Option<Types> {
    match constant.kind() {
        ValueKind::String => Some(Types::STRING),
        ValueKind::Number => Some(Types::NUMBER),
        ValueKind::Bool => Some(Types::BOOLEAN),
        _ => None,
    }
}
