// Writes the observations and the lineage of a running gateway to a file, in the order of time.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { ApiObject, ServiceClient } from './client.ts'

const page_size = 500

type TimedLine = { readonly at: string; readonly item: ApiObject }

/** Returns the number of lines. The file must not exist; after a failure there is none. */
export async function recordTraces(
  api: Pick<ServiceClient, 'call'>,
  { file, since }: { readonly file: string; readonly since: string | undefined },
  terminal: Pick<Terminal, 'progress'>,
): Promise<{ readonly lines: number }> {
  const sources = [
    iterate(api, 'gateway.guide.memory.list', { since }, 'created_at'),
    iterate(api, 'gateway.guide.lineage.list', { kind: 'attached' }, 'at'),
    iterate(api, 'gateway.guide.lineage.list', { kind: 'held_out' }, 'at'),
  ]
  const heads = await Promise.all(sources.map((each) => each.next()))
  const descriptor = createFile(file)
  try {
    let lines = 0
    for (;;) {
      const next = chooseOldest(heads)
      const head = next === undefined ? undefined : heads[next]
      if (next === undefined || !head || head.done) break
      const { at, item } = head.value
      heads[next] = (await sources[next]?.next()) ?? head
      if (since !== undefined && at < since) continue
      writeSync(descriptor, `${JSON.stringify(item)}\n`)
      lines += 1
      if (lines % page_size === 0) terminal.progress(`${lines} lines`)
    }
    terminal.progress('')
    return { lines }
  } catch (error) {
    offline.asInvoker(() => rmSync(file, { force: true }))
    throw error
  } finally {
    closeSync(descriptor)
  }
}

async function* iterate(
  api: Pick<ServiceClient, 'call'>,
  address: string,
  input: ApiObject,
  time: string,
): AsyncGenerator<TimedLine, undefined> {
  let cursor: unknown
  do {
    const page = await api.call(address, { ...input, oldest_first: true, limit: page_size, cursor })
    for (const item of page.items as readonly ApiObject[]) yield { at: String(item[time]), item }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

/** Instants of the gateway have one form, so that their texts have the order of time. */
function chooseOldest(heads: readonly IteratorResult<TimedLine, undefined>[]): number | undefined {
  let oldest: number | undefined
  let oldest_at = ''
  for (const [index, head] of heads.entries()) {
    if (head.done || (oldest !== undefined && head.value.at >= oldest_at)) continue
    oldest = index
    oldest_at = head.value.at
  }
  return oldest
}

function createFile(file: string): number {
  try {
    return offline.asInvoker(() => openSync(file, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFailure(3, `${file} already exists`, 'name a new file')
    throw new CommandFailure(1, `${file} cannot be written: ${code ?? String(error)}`)
  }
}
