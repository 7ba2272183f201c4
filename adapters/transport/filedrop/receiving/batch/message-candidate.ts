// One message of a batch during intake, with its disposition so far.

import type { MessageExamination } from '../../checks/message-examination.ts'
import type { MessageFault } from '../../quarantine-reasons.ts'
import type { IncomingItem } from '../scan/incoming-files.ts'
import type { ReceiveContext } from '../scan-context.ts'

export type MessageCandidate = {
  readonly item: IncomingItem
  readonly examination: MessageExamination
  readonly context: ReceiveContext
  /** Both files lay in `work` before this scan. */
  readonly wasInWork: boolean
  /** It lay there when a process died or a step threw: it may be to blame. */
  readonly isSuspect: boolean
  /** By order of people its body must not stay here: the digest that the order names. */
  purge_order?: string
  /** Absent while nothing is wrong with it and nothing has been done with it. */
  disposition?: MessageDisposition | undefined
}

export type MessageDisposition =
  /** Taken by its receiver. */
  | { readonly is: 'applied' }
  /** Refused by its receiver, or faulty although its sender signed it. */
  | { readonly is: 'refused' | 'quarantined'; readonly fault: MessageFault }
  /** Not proven to be the message of its number: not entered in the ledger. */
  | { readonly is: 'rejected'; readonly fault: MessageFault }
  /** The ledger has closed this very statement already. */
  | { readonly is: 'settled' }
  /** A second copy, in `new`, of a message that waits in `work`. */
  | { readonly is: 'duplicate' }
  /** A second copy that can be judged only when the message in `work` is. */
  | { readonly is: 'left' }
  /** Waits in `work` behind a gap. */
  | { readonly is: 'held' }
  /** Waits in `work` for a role that the site does not run. */
  | { readonly is: 'set_aside'; readonly role: string }
  /** May wait, but there is no room for it: it goes to quarantine, and its number is missing until it is sent again. */
  | { readonly is: 'overflow'; readonly fault: MessageFault }
  /** Waits in `work` for no fault of its own; with `role`, for that role, and other roles take messages meanwhile. */
  | { readonly is: 'deferred'; readonly role?: string }
  /** A failure that is not a fault of the message; it was reported. */
  | { readonly is: 'failed' }
