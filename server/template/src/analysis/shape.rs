//! What is known of a template's values: a tree of shapes that grows as the template is walked.

/// Limit on shapes, larger than any realistic context; the rest is omitted.
const MOST_SHAPES: usize = 20_000;

/// Depth to which a macro's parameter is copied into its argument: a recursive macro would never end.
const DEEPEST_COPY: usize = 6;

/// Index of a shape in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShapeId(usize);

/// A set of types of a JSON value that is neither object nor array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const STRING: Self = Self(1);
    pub(super) const NUMBER: Self = Self(2);
    pub(super) const BOOLEAN: Self = Self(4);
    /// A number, or a text that contains one.
    pub(super) const AMOUNT: Self = Self(1 | 2);
    /// Types that can be printed.
    pub(super) const PRINTABLE: Self = Self(1 | 2 | 4);

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        [
            (Self::STRING, "string"),
            (Self::NUMBER, "number"),
            (Self::BOOLEAN, "boolean"),
        ]
        .into_iter()
        .filter(move |(one, _)| self.0 & one.0 != 0)
        .map(|(_, name)| name)
    }
}

/// What is known of one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Its members by name, in the order in which the template uses them.
    pub(super) members: Vec<(String, ShapeId)>,
    /// Shape of its elements, if it is a list.
    pub(super) elements: Option<ShapeId>,
    /// Shape of its members, if the template iterates over pairs of name and value.
    pub(super) values: Option<ShapeId>,
    /// Shapes of its elements by position, for the pairs that a filter returns.
    pub(super) parts: Vec<Option<ShapeId>>,
    /// Types that it can have if it is neither object nor list.
    pub(super) types: Option<Types>,
    /// It is used where an undefined value matters.
    pub(super) needed: bool,
    /// It is tested, so it may be absent.
    pub(super) asked_for: bool,
    /// It is used as a whole, so none of its members is unused.
    pub(super) whole: bool,
}

/// The tree. Its root is the context.
#[derive(Debug)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
}

impl Shapes {
    pub(super) const ROOT: ShapeId = ShapeId(0);

    pub(super) fn new() -> Self {
        Self {
            shapes: vec![Shape::default()],
        }
    }

    /// Adds a shape that is not part of the context. Returns `None` once the tree has [`MOST_SHAPES`].
    pub(super) fn add(&mut self, shape: Shape) -> Option<ShapeId> {
        if self.shapes.len() >= MOST_SHAPES {
            return None;
        }
        self.shapes.push(shape);
        Some(ShapeId(self.shapes.len() - 1))
    }

    pub(super) fn get(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.0)
    }

    pub(super) fn change(&mut self, id: ShapeId, change: impl FnOnce(&mut Shape)) {
        if let Some(shape) = self.shapes.get_mut(id.0) {
            change(shape);
        }
    }

    /// Returns the member of this name, and adds it if it is new.
    pub(super) fn member(&mut self, of: ShapeId, name: &str) -> Option<ShapeId> {
        let shape = self.get(of)?;
        if let Some((_, id)) = shape.members.iter().find(|(known, _)| known == name) {
            return Some(*id);
        }
        let id = self.add(Shape::default())?;
        self.change(of, |shape| shape.members.push((name.to_owned(), id)));
        Some(id)
    }

    /// Removes members of the context.
    pub(super) fn forget(&mut self, names: &[&str]) {
        self.change(Self::ROOT, |root| {
            root.members.retain(|(name, _)| !names.contains(&name.as_str()));
        });
    }

    /// Marks a member of the context as one that may be absent, if the template uses it.
    pub(super) fn make_optional(&mut self, name: &str) {
        let root = self.get(Self::ROOT);
        let member = root.and_then(|root| root.members.iter().find(|(known, _)| known == name));
        if let Some((_, id)) = member.cloned() {
            self.change(id, |shape| shape.asked_for = true);
        }
    }

    /// Returns the member at the end of a path such as `customer.name`, and adds those that are new.
    pub(super) fn at_path(&mut self, of: ShapeId, path: &str) -> Option<ShapeId> {
        path.split('.').try_fold(of, |id, name| self.member(id, name))
    }

    /// Returns the shape of the elements of a value, and marks the value as a list.
    pub(super) fn elements(&mut self, of: ShapeId) -> Option<ShapeId> {
        if let Some(id) = self.get(of)?.elements {
            return Some(id);
        }
        let id = self.add(Shape::default())?;
        self.change(of, |shape| shape.elements = Some(id));
        Some(id)
    }

    /// Returns the shape of the values of a map, and marks the map as iterated over by name and value.
    pub(super) fn values(&mut self, of: ShapeId) -> Option<ShapeId> {
        if let Some(id) = self.get(of)?.values {
            return Some(id);
        }
        let id = self.add(Shape::default())?;
        self.change(of, |shape| shape.values = Some(id));
        Some(id)
    }

    /// Narrows the types to these, unless none would be left.
    pub(super) fn narrow(&mut self, id: ShapeId, types: Types) {
        self.change(id, |shape| {
            let known = shape.types.unwrap_or(types);
            let both = Types(known.0 & types.0);
            shape.types = Some(if both.0 == 0 { known } else { both });
        });
    }

    /// Copies everything known of `from`, a macro's parameter, to `to`, its argument.
    pub(super) fn copy(&mut self, from: ShapeId, to: ShapeId) {
        self.copy_to_depth(from, to, DEEPEST_COPY);
    }

    fn copy_to_depth(&mut self, from: ShapeId, to: ShapeId, depth: usize) {
        let Some(source) = self.get(from).cloned() else {
            return;
        };
        if depth == 0 || from == to {
            return;
        }
        if let Some(types) = source.types {
            self.narrow(to, types);
        }
        self.change(to, |shape| {
            shape.needed |= source.needed;
            shape.asked_for |= source.asked_for;
            shape.whole |= source.whole;
        });
        for (name, member) in source.members {
            if let Some(copy) = self.member(to, &name) {
                self.copy_to_depth(member, copy, depth - 1);
            }
        }
        if let Some(elements) = source.elements
            && let Some(copy) = self.elements(to)
        {
            self.copy_to_depth(elements, copy, depth - 1);
        }
        if let Some(values) = source.values
            && let Some(copy) = self.values(to)
        {
            self.copy_to_depth(values, copy, depth - 1);
        }
    }
}
