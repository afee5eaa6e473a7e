// The operating system, by which keyboards differ.

/** Whether shortcuts use Command instead of Control. */
export const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
