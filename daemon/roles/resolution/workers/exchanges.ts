// Takes exchanges further, and notices runs of them that somebody has ended.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Filter } from '../../../kernel/store.ts'
import { advance } from '../exchange/advance.ts'
import { endHere } from '../exchange/decline.ts'
import { exchanges, runOf } from '../exchange/model.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { isEnded } from '../fusion-run/rules.ts'

export const exchangesWorker: Worker = { name: 'exchanges', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  for await (const id of idsOf(call, { owes: 1 })) {
    await advance(call, id).catch((error: unknown) => {
      if (call.signal.aborted) return
      // One exchange that cannot go on must not hold up those behind it.
      const { trace_id } = call.trace
      call.log.error('resolution.exchange.held-up', { trace_id, exchange: id, error: String(error) })
    })
  }
  for await (const id of idsOf(call, { state: 'running', owes: 0 })) {
    const found = await call.store(fusionRuns).find(runOf(id))
    if (found && isEnded(found.value)) await endHere(call, id, `its run is ${found.value.state}`)
  }
}

async function* idsOf(call: Call, filter: Filter): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const page = await call.store(exchanges).list({ filter, limit: 100, fresh: true, ...(cursor ? { cursor } : {}) })
    for (const { id } of page.docs) {
      if (call.signal.aborted) return
      yield id
    }
    cursor = page.next_cursor
  } while (cursor)
}
