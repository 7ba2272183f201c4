// Decisions of people about messages that wait: carried out between two scans, so that none is decided and applied at once.
import { refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { ScanContext } from '../scan-context.ts'

export type Decision<T> = (context: ScanContext) => Promise<T>

export type DecisionQueue = {
  /** Settles when the decision was carried out. */
  add<T>(decision: Decision<T>): Promise<T>
  /** Whether there was any. `context`: undefined while nothing may be taken in; then they are refused. */
  run(context: ScanContext | undefined): Promise<boolean>
}

export function decisionQueue(): DecisionQueue {
  let pending: ((context: ScanContext | undefined) => Promise<void>)[] = []
  return {
    add: (decision) =>
      new Promise((resolve, reject) => {
        pending.push(async (context) => {
          if (!context) return reject(refuse('conflict', 'the channel takes nothing in now: platform filedrop status'))
          await decision(context).then(resolve, reject)
        })
      }),
    async run(context) {
      const decisions = pending
      pending = []
      for (const decide of decisions) await decide(context)
      return decisions.length > 0
    },
  }
}
