// Names of the steps between which the process may die. A test observes each step, or ends the process there.

/** In the order in which a message passes them. The hook is called when the step is done. */
export const filedropFaultPoints = [
  // Sending.
  'appended',
  'draft-written',
  'draft-synced',
  'body-published',
  'envelope-published',
  'folder-synced',
  'marked-published',
  'kept',
  'marked-picked-up',
  'resent',
  'epoch-opened',
  // Receiving: `read` before a file is moved, `moved-to-work` and `moved-to-done` after each of the two.
  'read',
  'moved-to-work',
  'received',
  'delivered',
  'applied',
  'moved-to-done',
  // Quarantine: `moved-to-quarantine` after each file.
  'reason-written',
  'moved-to-quarantine',
  // Release.
  'waived',
  'moved-back',
  'reason-removed',
  'waiver-spent',
  // Export and import: after each thing that the command has done to the site or to the medium.
  'courier-step',
] as const
export type FiledropFaultPoint = (typeof filedropFaultPoints)[number]

/** Called at each step. The step throws its error. */
export type FiledropFaultHook = (step: FiledropFaultPoint) => void
