//! Finds the names that a template uses where an undefined value matters, its filters and tests, and the partials that it
//! names.

use std::ops::Range;

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, Expr, Macro, Stmt, UnaryOpKind};

use crate::language::translations::FUNCTION;

/// Whether it matters that an expression's value is undefined.
#[derive(Clone, Copy)]
enum Need {
    Value,
    Nothing,
}

/// A partial that a template names.
pub(crate) struct Reference {
    /// The name, if it is a constant text.
    pub(crate) name: Option<String>,
    /// Range of the name in the template, in bytes.
    pub(crate) range: Range<usize>,
    /// Whether a missing partial is ignored.
    pub(crate) optional: bool,
}

/// Names, filters, tests and partials that a template uses.
#[derive(Default)]
pub(crate) struct Uses<'a> {
    /// Start and end, in bytes, of each name with its attributes and items that is used where an undefined value
    /// matters.
    pub(super) names: Vec<(usize, usize)>,
    /// Start and end, in bytes, of each name of the function that prints texts, unless it is called by a `call` block.
    pub(super) translators: Vec<(usize, usize)>,
    /// Filters with their ranges, in bytes.
    pub(super) filters: Vec<(&'a str, Range<usize>)>,
    /// Tests with their ranges, in bytes.
    pub(super) tests: Vec<(&'a str, Range<usize>)>,
    /// Partials in the order of the template.
    pub(crate) partials: Vec<Reference>,
}

impl<'a> Uses<'a> {
    /// Returns all uses in a template.
    pub(crate) fn of(template: &Stmt<'a>) -> Self {
        let mut uses = Self::default();
        uses.statement(template);
        uses
    }

    fn statements(&mut self, statements: &[Stmt<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>) {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitExpr(emit) => self.expression(&emit.expr, Need::Value),
            Stmt::ForLoop(for_loop) => {
                self.expression(&for_loop.iter, Need::Value);
                self.optional(for_loop.filter_expr.as_ref(), Need::Nothing);
                self.statements(&for_loop.body);
                self.statements(&for_loop.else_body);
            }
            Stmt::IfCond(condition) => {
                self.expression(&condition.expr, Need::Nothing);
                self.statements(&condition.true_body);
                self.statements(&condition.false_body);
            }
            Stmt::WithBlock(with) => {
                for (_, value) in &with.assignments {
                    self.expression(value, Need::Nothing);
                }
                self.statements(&with.body);
            }
            Stmt::Set(set) => self.expression(&set.expr, Need::Nothing),
            Stmt::SetBlock(set) => {
                self.optional(set.filter.as_ref(), Need::Value);
                self.statements(&set.body);
            }
            Stmt::AutoEscape(block) => {
                self.expression(&block.enabled, Need::Nothing);
                self.statements(&block.body);
            }
            Stmt::FilterBlock(block) => {
                self.expression(&block.filter, Need::Value);
                self.statements(&block.body);
            }
            Stmt::Block(block) => self.statements(&block.body),
            Stmt::Macro(declared) => self.declared_macro(declared),
            Stmt::CallBlock(block) => {
                // A bracket in place of the name would begin the parameters of the block.
                self.subscripts(&block.call.expr);
                self.arguments(&block.call.args);
                self.declared_macro(&block.macro_decl);
            }
            Stmt::Do(block) => self.call(&block.call),
            Stmt::Import(import) => self.partial(&import.expr, false),
            Stmt::FromImport(import) => self.partial(&import.expr, false),
            Stmt::Extends(extends) => self.partial(&extends.name, false),
            Stmt::Include(include) => self.partial(&include.name, include.ignore_missing),
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
        }
    }

    fn partial(&mut self, name: &Expr<'a>, optional: bool) {
        let constant = name.as_const();
        self.partials.push(Reference {
            name: constant.as_ref().and_then(|name| name.as_str()).map(ToOwned::to_owned),
            range: start(name)..own_range(name).end,
            optional,
        });
    }

    fn declared_macro(&mut self, declared: &Macro<'a>) {
        for default in &declared.defaults {
            self.expression(default, Need::Nothing);
        }
        self.statements(&declared.body);
    }

    fn optional(&mut self, expression: Option<&Expr<'a>>, need: Need) {
        if let Some(expression) = expression {
            self.expression(expression, need);
        }
    }

    fn expression(&mut self, expression: &Expr<'a>, need: Need) {
        self.translator(expression);
        match expression {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => match need {
                Need::Value => {
                    self.names
                        .push((start(expression), expression.span().end_offset as usize));
                    self.subscripts(expression);
                }
                Need::Nothing => self.parent(expression),
            },
            Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.expression(&slice.expr, need);
                for bound in [&slice.start, &slice.stop, &slice.step] {
                    self.optional(bound.as_ref(), Need::Value);
                }
            }
            Expr::UnaryOp(operation) => self.expression(
                &operation.expr,
                match operation.op {
                    UnaryOpKind::Not => Need::Nothing,
                    UnaryOpKind::Neg => Need::Value,
                },
            ),
            Expr::BinOp(operation) => {
                let (left, right) = match operation.op {
                    BinOpKind::ScAnd | BinOpKind::ScOr => (Need::Nothing, need),
                    _ => (Need::Value, Need::Value),
                };
                self.expression(&operation.left, left);
                self.expression(&operation.right, right);
            }
            Expr::Compare(compare) => {
                self.expression(&compare.expr, Need::Value);
                for operand in &compare.ops {
                    self.expression(&operand.expr, Need::Value);
                }
            }
            Expr::IfExpr(condition) => {
                self.expression(&condition.test_expr, Need::Nothing);
                self.expression(&condition.true_expr, need);
                self.optional(condition.false_expr.as_ref(), need);
            }
            Expr::Filter(filter) => {
                let need = if matches!(filter.name, "default" | "d") {
                    Need::Nothing
                } else {
                    Need::Value
                };
                self.filters.push((filter.name, own_range(expression)));
                self.optional(filter.expr.as_ref(), need);
                self.arguments(&filter.args);
            }
            Expr::Test(test) => {
                self.tests.push((test.name, own_range(expression)));
                self.expression(&test.expr, Need::Nothing);
                self.arguments(&test.args);
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.all(&list.items),
            Expr::Tuple(tuple) => self.all(&tuple.items),
            Expr::Map(map) => {
                self.all(&map.keys);
                self.all(&map.values);
            }
        }
    }

    fn all(&mut self, expressions: &[Expr<'a>]) {
        for expression in expressions {
            self.expression(expression, Need::Nothing);
        }
    }

    /// Records the parent of an expression that may be undefined: the parent itself may not.
    fn parent(&mut self, expression: &Expr<'a>) {
        match expression {
            Expr::GetAttr(attribute) => self.expression(&attribute.expr, Need::Value),
            Expr::GetItem(item) => {
                self.expression(&item.expr, Need::Value);
                self.expression(&item.subscript_expr, Need::Value);
            }
            _ => {}
        }
    }

    /// Records the uses inside a chain of attributes and items: `a[b].c(d).e` uses `b` and `d`, and is itself one use.
    fn subscripts(&mut self, expression: &Expr<'a>) {
        match expression {
            Expr::Var(_) => {}
            Expr::GetAttr(attribute) => self.subscripts(&attribute.expr),
            Expr::GetItem(item) => {
                self.subscripts(&item.expr);
                self.expression(&item.subscript_expr, Need::Value);
            }
            other => self.expression(other, Need::Value),
        }
    }

    /// Records the name of the function that prints texts.
    fn translator(&mut self, expression: &Expr<'a>) {
        if let Expr::Var(variable) = expression
            && variable.id == FUNCTION
        {
            let Range { start, end } = own_range(expression);
            self.translators.push((start, end));
        }
    }

    fn call(&mut self, call: &Call<'a>) {
        self.translator(&call.expr);
        self.subscripts(&call.expr);
        self.arguments(&call.args);
    }

    fn arguments(&mut self, arguments: &[CallArg<'a>]) {
        for argument in arguments {
            let (CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value)) = argument;
            self.expression(value, Need::Value);
        }
    }
}

/// Returns where an expression starts, in bytes. The engine's spans of attributes, items and filters start at their
/// last part. Brackets around the first part are left out, which does no harm: an opening bracket inserted after
/// another one could as well stand before it.
fn start(expression: &Expr) -> usize {
    match expression {
        Expr::GetAttr(attribute) => start(&attribute.expr),
        Expr::GetItem(item) => start(&item.expr),
        Expr::Slice(slice) => start(&slice.expr),
        Expr::Call(call) => start(&call.expr),
        Expr::Test(test) => start(&test.expr),
        Expr::BinOp(operation) => start(&operation.left),
        Expr::Compare(compare) => start(&compare.expr),
        Expr::IfExpr(condition) => start(&condition.true_expr),
        Expr::Filter(filter) => filter.expr.as_ref().map_or_else(|| own_start(expression), start),
        Expr::Var(_) | Expr::Const(_) | Expr::UnaryOp(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => {
            own_start(expression)
        }
    }
}

fn own_start(expression: &Expr) -> usize {
    own_range(expression).start
}

fn own_range(expression: &Expr) -> Range<usize> {
    let span = expression.span();
    span.start_offset as usize..span.end_offset as usize
}
