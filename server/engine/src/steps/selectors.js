// Finds the HTML elements of structure elements, and returns a CSS selector for each, or null.
//
// Chromium prints elements in the order of the document, each with a type that follows from its name or role. So the
// element with the same rank among those of its type is the one sought, if the page has as many of them as the printed
// document, and the texts agree, as far as there are any. Otherwise it is the only one with the same text, if there is
// one. Anything else would be a guess.
//
// Runs in an isolated world, so the page can't change built-ins. But its elements are properties of documents and forms
// by their names, and hide those of the same name: everything is therefore read through the prototypes.
(sought => {
    const LONGEST_SELECTOR = 200;
    const LONGEST_VALUE = 60;
    const MOST_CANDIDATES = 20000;
    const LONGEST_TEXT = 1000;
    // Characters in which equal texts agree. Findings contain only the beginning of a text.
    const COMPARED = 40;
    const HEADING = level => `h${level}, [role=heading][aria-level="${level}"]`;
    // Chromium gives others no type: those with fallback content, and those without a role or one of these attributes.
    const CANVAS = 'canvas:empty:is([id], [title], [tabindex], [aria-label], [aria-labelledby])';
    const CANDIDATES = {
        H1: HEADING(1),
        H2: HEADING(2),
        H3: HEADING(3),
        H4: HEADING(4),
        H5: HEADING(5),
        H6: HEADING(6),
        P: 'p, [role=paragraph]',
        L: 'ul, ol, menu, [role=list]',
        LI: 'li, [role=listitem]',
        Table: 'table, [role=table], [role=grid], [role=treegrid]',
        Caption: 'caption, figcaption',
        TR: 'tr, [role=row]',
        TH: 'th, [role=columnheader], [role=rowheader]',
        TD: 'td, [role=cell], [role=gridcell]',
        Link: 'a[href], area[href], [role=link]',
        Figure: `img, ${CANVAS}, figure, [role=img], [role=image], [role=figure]`,
    };
    const NAMES = ['aria-label', 'aria-labelledby', 'title'];
    const CONTENT = 'img, svg, canvas, input, select, textarea, button, video, iframe, object, embed, meter, progress';

    const unbound = (owner, name) => {
        const { value, get } = Object.getOwnPropertyDescriptor(owner.prototype, name);
        return Function.prototype.call.bind(value ?? get);
    };
    const select = unbound(Document, 'querySelectorAll');
    const root = unbound(Document, 'documentElement');
    const body = unbound(Document, 'body');
    const textContent = unbound(Node, 'textContent');
    const parent = unbound(Node, 'parentNode');
    const name = unbound(Element, 'localName');
    const first = unbound(Element, 'firstElementChild');
    const next = unbound(Element, 'nextElementSibling');
    const attribute = unbound(Element, 'getAttribute');
    const closest = unbound(Element, 'closest');
    const descendant = unbound(Element, 'querySelector');
    const matches = unbound(Element, 'matches');
    const boxes = unbound(Element, 'getClientRects');
    const loadedWidth = unbound(HTMLImageElement, 'naturalWidth');
    const loadedSource = unbound(HTMLImageElement, 'currentSrc');
    const isVisible = unbound(Element, 'checkVisibility');

    const text = element => textContent(element).slice(0, LONGEST_TEXT);
    const words = text => text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const compared = text => words(text).join('').slice(0, COMPARED);

    const hasContent = element => /[^ \t\n\f\r]/.test(text(element)) || descendant(element, CONTENT);
    // Elements without content are not printed, and decoration has no type.
    const isPrinted = (element, kind) =>
        isVisible(element, { visibilityProperty: true }) &&
        !closest(element, '[aria-hidden=true]') &&
        !/^(none|presentation)$/.test(attribute(element, 'role')) &&
        attribute(element, 'alt') !== '' &&
        (kind === 'Figure' || hasContent(element));
    // Every list is made once, so that the time is linear.
    const remembered = make => {
        const known = new Map();
        return key => {
            if (!known.has(key)) known.set(key, make(key));
            return known.get(key);
        };
    };
    const candidates = remembered(kind => {
        const all = Object.hasOwn(CANDIDATES, kind) ? [...select(document, CANDIDATES[kind])] : [];
        const printed = all.length <= MOST_CANDIDATES ? all.filter(element => isPrinted(element, kind)) : [];
        return kind === 'Figure' ? withoutGroups(printed).filter(isDrawn) : printed;
    });
    // Leaves out those that are groups in documents (`pdf/archive/figures.rs`): elements without a name around a caption,
    // or around one of these parts if they paint nothing themselves.
    const PARTS_OF_GROUPS = ['P', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'L', 'Table'];
    const withoutGroups = figures => {
        const captions = candidates('Caption').filter(caption => name(caption) === 'figcaption');
        const captioned = new Set(captions.map(figureAround));
        const grouping = new Set([...figures, ...PARTS_OF_GROUPS.flatMap(candidates)].map(figureAround));
        return figures.filter(
            figure => isNamed(figure) || !(captioned.has(figure) || (grouping.has(figure) && !isPainted(figure))),
        );
    };
    const figureAround = element => {
        const around = parent(element);
        return around instanceof Element && closest(around, CANDIDATES.Figure);
    };
    const isNamed = element => NAMES.some(key => attribute(element, key)?.trim());
    const isPainted = element => {
        const { backgroundColor, backgroundImage, borderWidth, outlineStyle } = getComputedStyle(element);
        const isPlain = backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none';
        return !isPlain || borderWidth !== '0px' || outlineStyle !== 'none';
    };
    // Figures without an area are not printed, unless their content is elsewhere. Nor are images that can't be
    // displayed, unless their box is painted: Chromium draws a border only if they have neither a source nor a text.
    const isDrawn = figure => {
        const hasArea = [...boxes(figure)].some(({ width, height }) => width > 0 && height > 0);
        if (!hasArea) return !matches(figure, CONTENT) && hasContent(figure);
        if (!(figure instanceof HTMLImageElement) || loadedWidth(figure) > 0 || isPainted(figure)) return true;
        return !loadedSource(figure) && !attribute(figure, 'alt') && !attribute(figure, 'title');
    };
    const byText = remembered(kind => {
        const found = new Map();
        for (const element of candidates(kind)) {
            const key = compared(text(element));
            found.set(key, found.has(key) ? undefined : element);
        }
        return found;
    });
    const find = ({ kind, preceding, count, text: printed }) => {
        const all = candidates(kind);
        const wanted = words(printed);
        const ranked = all.length === count ? all[preceding] : undefined;
        if (ranked && (!wanted.length || words(text(ranked)).some(word => wanted.includes(word)))) return ranked;
        return wanted.length ? byText(kind).get(compared(printed)) : undefined;
    };

    const byId = element => {
        const id = attribute(element, 'id');
        const selector = id && id.length <= LONGEST_VALUE && `#${CSS.escape(id)}`;
        return selector && select(document, selector).length === 1 ? selector : undefined;
    };
    const sources = remembered(images => {
        const counts = new Map();
        for (const image of select(document, images)) {
            const source = attribute(image, 'src');
            counts.set(source, (counts.get(source) ?? 0) + 1);
        }
        return counts;
    });
    const bySource = element => {
        const source = name(element) === 'img' && attribute(element, 'src');
        const isPlain = source && source.length <= LONGEST_VALUE && !/["\\\p{Cc}]/u.test(source);
        return isPlain && sources('img').get(source) === 1 ? `img[src="${source}"]` : undefined;
    };
    const siblings = remembered(owner => {
        const [numbers, counts] = [new Map(), new Map()];
        for (let child = first(owner); child; child = next(child)) {
            const number = (counts.get(name(child)) ?? 0) + 1;
            counts.set(name(child), number);
            numbers.set(child, number);
        }
        return { numbers, counts };
    });
    const byPlace = element => {
        const { numbers, counts } = siblings(parent(element));
        const isOnly = counts.get(name(element)) === 1;
        return CSS.escape(name(element)) + (isOnly ? '' : `:nth-of-type(${numbers.get(element)})`);
    };
    // Returns steps from the nearest ancestor that is unique by itself.
    const selector = element => {
        const steps = [];
        for (let node = element; node instanceof Element; node = parent(node)) {
            const isRoot = node === body(document) || node === root(document);
            const unique = byId(node) ?? bySource(node) ?? (isRoot ? name(node) : undefined);
            steps.unshift(unique ?? byPlace(node));
            if (unique) break;
        }
        const path = steps.join(' > ');
        return path.length <= LONGEST_SELECTOR ? path : null;
    };
    return sought.map(one => {
        const element = find(one);
        return element ? selector(element) : null;
    });
})
