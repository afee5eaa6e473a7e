//! Walks a template's statements and records what they reveal about the context.

mod expressions;

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use minijinja::machinery::ast::{Expr, Macro, Stmt};

use super::{
    shape::{Shape, ShapeId, Shapes},
    texts::{PrintedText, Texts},
};

/// Functions, which are not names of a context.
const FUNCTIONS: [&str; 6] = ["range", "dict", "namespace", "cycler", "joiner", "self"];

/// Limit on uses of partials that are walked: partials that use others several times multiply.
const MOST_USES_OF_PARTIALS: usize = 1000;

/// What a walk has found.
pub(super) struct Walked<'a> {
    /// The shapes of everything that the template uses.
    pub(super) shapes: Shapes,
    /// The texts that the template prints by constant keys.
    pub(super) texts: Vec<PrintedText<'a>>,
}

/// Walks a template, given the partials by handle. These must not use each other in cycles.
pub(super) fn walk<'a>(template: &'a Stmt<'a>, partials: &'a HashMap<&'a str, Stmt<'a>>) -> Walked<'a> {
    let mut walk = Walk {
        shapes: Shapes::new(),
        scopes: vec![HashMap::new()],
        macros: HashMap::new(),
        modules: HashMap::new(),
        partials,
        partial: None,
        partials_used: 0,
        texts: Texts::default(),
        layout: None,
        replaced_blocks: HashSet::new(),
        calls_super: false,
    };
    walk.statement(template);
    Walked {
        shapes: walk.shapes,
        texts: walk.texts.into_list(),
    }
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
    macros: Macros<'a>,
    /// The macros of imported partials, by the names under which they are imported.
    modules: HashMap<&'a str, Macros<'a>>,
    partials: &'a HashMap<&'a str, Stmt<'a>>,
    /// Handle of the partial that is being walked.
    partial: Option<&'a str>,
    /// Number of uses of partials that have been walked.
    partials_used: usize,
    /// Texts that have been printed.
    texts: Texts<'a>,
    /// The name in the `extends` of the text that is being walked.
    layout: Option<&'a Expr<'a>>,
    /// Blocks that are replaced in the layouts of the text that is being walked.
    replaced_blocks: HashSet<&'a str>,
    /// Whether the block that is being walked prints the one that it replaces.
    calls_super: bool,
}

/// Macros by name, with the names and shapes of their parameters.
type Macros<'a> = HashMap<&'a str, Vec<(&'a str, ShapeId)>>;

impl<'a> Walk<'a> {
    fn statements(&mut self, statements: &'a [Stmt<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn scoped(&mut self, statements: &'a [Stmt<'a>]) {
        self.scopes.push(HashMap::new());
        self.statements(statements);
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &'a Stmt<'a>) {
        match statement {
            Stmt::Template(template) => {
                let outer = self.layout.take();
                self.statements(&template.children);
                // The layout is printed last, with the blocks of this text.
                if let Some(layout) = mem::replace(&mut self.layout, outer) {
                    self.partial(layout);
                }
            }
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
            Stmt::Block(block) if self.replaced_blocks.contains(block.name) => {}
            Stmt::Block(block) => {
                let outer = mem::take(&mut self.calls_super);
                self.scoped(&block.body);
                if !mem::replace(&mut self.calls_super, outer) {
                    self.replaced_blocks.insert(block.name);
                }
            }
            Stmt::Macro(declared) => self.declare(declared),
            Stmt::CallBlock(block) => {
                self.call(&block.call);
                self.declare(&block.macro_decl);
            }
            Stmt::Do(block) => {
                self.call(&block.call);
            }
            Stmt::Include(include) => {
                let outer = mem::take(&mut self.replaced_blocks);
                self.partial(&include.name);
                self.replaced_blocks = outer;
            }
            Stmt::Extends(extends) => self.layout = Some(&extends.name),
            Stmt::Import(import) => {
                let macros = self.imported(&import.expr);
                self.assign(&import.name, None);
                if let Expr::Var(name) = &import.name {
                    self.modules.insert(name.id, macros);
                }
            }
            Stmt::FromImport(import) => {
                let mut macros = self.imported(&import.expr);
                for (name, alias) in &import.names {
                    let target = alias.as_ref().unwrap_or(name);
                    self.assign(target, None);
                    if let (Expr::Var(name), Expr::Var(target)) = (name, target)
                        && let Some(parameters) = macros.remove(name.id)
                    {
                        self.macros.insert(target.id, parameters);
                    }
                }
            }
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
        }
    }

    /// Walks a partial where it is used, with the names that are defined there.
    fn partial(&mut self, name: &Expr<'a>) {
        let name = name.as_const();
        let partial = name
            .as_ref()
            .and_then(|name| self.partials.get_key_value(name.as_str()?));
        if let Some((handle, partial)) = partial
            && self.partials_used < MOST_USES_OF_PARTIALS
        {
            self.partials_used += 1;
            let outer = self.partial.replace(handle);
            self.statement(partial);
            self.partial = outer;
        }
    }

    /// Walks an imported partial and returns its macros.
    fn imported(&mut self, name: &Expr<'a>) -> Macros<'a> {
        let outer = mem::take(&mut self.macros);
        self.scopes.push(HashMap::new());
        self.partial(name);
        self.scopes.pop();
        mem::replace(&mut self.macros, outer)
    }

    /// Walks a macro's body with a separate shape for each parameter, to be copied to the arguments.
    fn declare(&mut self, declared: &'a Macro<'a>) {
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

    /// Returns whether the template itself defines a name.
    fn defines(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
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
