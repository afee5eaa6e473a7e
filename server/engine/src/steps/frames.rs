//! Detects scripts that wait for a frame, in pages whose frames are not composited.

/// Runs in every document of such a page, before its own scripts. Wraps functions that wait for a frame, recording that
/// they were called. A page that tampers with the wrappers waits in vain.
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

/// Expression that returns whether anything waits for a frame. Covers `Element.animate` and CSS animations, which are
/// running animations.
pub(crate) const IS_WAITING: &str = "globalThis.__platenAwaitsFrames?.() ?? false";
