//! Sees scripts that wait for a frame, in pages that get none.

/// Runs in every document of such a page, before its own scripts. Each of these functions works as before, and it is noted
/// that it was used. A page that tampers with what is used here waits in vain.
pub(crate) const NOTE_WAITING: &str = "(() => { \
    let isWaiting = false; \
    const note = (owner, name) => { \
        const handler = { \
            apply(target, self, values) { isWaiting = true; return Reflect.apply(target, self, values) }, \
            construct(target, values, self) { isWaiting = true; return Reflect.construct(target, values, self) }, \
        }; \
        owner[name] = new Proxy(owner[name], handler); \
    }; \
    for (const name of ['requestAnimationFrame', 'requestIdleCallback', 'IntersectionObserver', 'ResizeObserver']) \
        note(globalThis, name); \
    note(Document.prototype, 'startViewTransition'); \
    note(HTMLCanvasElement.prototype, 'toBlob'); \
    const isRunning = animation => animation.playState === 'running'; \
    Object.defineProperty(globalThis, '__platenAwaitsFrames', \
        {value: () => isWaiting || document.getAnimations().some(isRunning)}); \
})();";

/// An expression: whether anything waits for a frame. `Element.animate` and what CSS animates are running animations.
pub(crate) const IS_WAITING: &str = "globalThis.__platenAwaitsFrames?.() ?? false";
