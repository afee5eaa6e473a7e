//! Walks a template's statements and records what they reveal about the context.

mod expressions;

use std::collections::HashMap;

use minijinja::machinery::ast::{Expr, Macro, Stmt};

use super::shape::{Shape, ShapeId, Shapes};

/// Functions, which are not names of a context.
const FUNCTIONS: [&str; 6] = ["range", "dict", "namespace", "cycler", "joiner", "self"];

/// Returns the shapes of everything that a template uses.
pub(super) fn shapes(template: &Stmt) -> Shapes {
    let mut walk = Walk {
        shapes: Shapes::new(),
        scopes: vec![HashMap::new()],
        macros: HashMap::new(),
    };
    walk.statement(template);
    walk.shapes
}

/// How the value of an expression is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is used, and should be defined.
    Use,
    /// The template tests whether it is defined or true.
    Ask,
    /// It is passed on, and used elsewhere or not at all.
    Pass,
}

struct Walk<'a> {
    shapes: Shapes,
    /// Names that the template itself defines; `None` is a value of unknown shape.
    scopes: Vec<HashMap<&'a str, Option<ShapeId>>>,
    /// The parameters of each macro.
    macros: HashMap<&'a str, Vec<(&'a str, ShapeId)>>,
}

impl<'a> Walk<'a> {
    fn statements(&mut self, statements: &[Stmt<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn scoped(&mut self, statements: &[Stmt<'a>]) {
        self.scopes.push(HashMap::new());
        self.statements(statements);
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &Stmt<'a>) {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitExpr(emit) => {
                let printed = self.consumed(&emit.expr);
                self.narrow(printed, super::shape::Types::PRINTABLE);
            }
            Stmt::ForLoop(for_loop) => {
                let list = self.expression(&for_loop.iter, Purpose::Use);
                let element = list.and_then(|list| self.shapes.elements(list));
                self.scopes.push(HashMap::from([("loop", None)]));
                self.assign(&for_loop.target, element);
                if let Some(filter) = &for_loop.filter_expr {
                    self.expression(filter, Purpose::Ask);
                }
                self.statements(&for_loop.body);
                self.scopes.pop();
                self.scoped(&for_loop.else_body);
            }
            Stmt::IfCond(condition) => {
                self.expression(&condition.expr, Purpose::Ask);
                self.statements(&condition.true_body);
                self.statements(&condition.false_body);
            }
            Stmt::WithBlock(with) => {
                self.scopes.push(HashMap::new());
                for (target, value) in &with.assignments {
                    let value = self.expression(value, Purpose::Pass);
                    self.assign(target, value);
                }
                self.statements(&with.body);
                self.scopes.pop();
            }
            Stmt::Set(set) => {
                let value = self.expression(&set.expr, Purpose::Pass);
                self.assign(&set.target, value);
            }
            Stmt::SetBlock(set) => {
                if let Some(filter) = &set.filter {
                    self.expression(filter, Purpose::Pass);
                }
                self.scoped(&set.body);
                self.assign(&set.target, None);
            }
            Stmt::AutoEscape(block) => self.statements(&block.body),
            Stmt::FilterBlock(block) => {
                self.expression(&block.filter, Purpose::Pass);
                self.scoped(&block.body);
            }
            Stmt::Block(block) => self.scoped(&block.body),
            Stmt::Macro(declared) => self.declare(declared),
            Stmt::CallBlock(block) => {
                self.call(&block.call);
                self.declare(&block.macro_decl);
            }
            Stmt::Do(block) => {
                self.call(&block.call);
            }
            // The last four fail: there is no other template.
            Stmt::EmitRaw(_)
            | Stmt::Continue(_)
            | Stmt::Break(_)
            | Stmt::Import(_)
            | Stmt::FromImport(_)
            | Stmt::Extends(_)
            | Stmt::Include(_) => {}
        }
    }

    /// Walks a macro's body with a separate shape for each parameter, to be copied to the arguments.
    fn declare(&mut self, declared: &Macro<'a>) {
        let mut scope = HashMap::from([("caller", None)]);
        let mut parameters = Vec::new();
        for default in &declared.defaults {
            self.expression(default, Purpose::Pass);
        }
        for argument in &declared.args {
            if let Expr::Var(name) = argument
                && let Some(id) = self.shapes.add(Shape::default())
            {
                scope.insert(name.id, Some(id));
                parameters.push((name.id, id));
            }
        }
        if let Some(outer) = self.scopes.last_mut() {
            outer.insert(declared.name, None);
        }
        self.scopes.push(scope);
        self.statements(&declared.body);
        self.scopes.pop();
        self.macros.insert(declared.name, parameters);
    }

    fn assign(&mut self, target: &Expr<'a>, value: Option<ShapeId>) {
        match target {
            Expr::Var(name) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(name.id, value);
                }
            }
            Expr::List(list) => self.assign_parts(&list.items, value),
            Expr::Tuple(tuple) => self.assign_parts(&tuple.items, value),
            // The attribute of a namespace.
            _ => {}
        }
    }

    fn assign_parts(&mut self, targets: &[Expr<'a>], value: Option<ShapeId>) {
        let parts = value
            .and_then(|value| self.shapes.get(value))
            .map(|shape| shape.parts.clone())
            .unwrap_or_default();
        for (number, target) in targets.iter().enumerate() {
            self.assign(target, parts.get(number).copied().flatten());
        }
    }

    /// Returns the shape that a name refers to. A name that the template does not define is the context's.
    fn resolve(&mut self, name: &str) -> Option<ShapeId> {
        if let Some(given) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return *given;
        }
        if FUNCTIONS.contains(&name) {
            return None;
        }
        self.shapes.member(Shapes::ROOT, name)
    }
}
