// Writes a signed snapshot of the registry for a peer, of what that peer may see.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { offline } from '../../../../daemon/boot/offline.ts'
import { isRefused } from '../../../../daemon/kernel/errors.ts'
import type { ServerEvent } from '../../../../daemon/kernel/operation.ts'
import { refusedOf } from '../../../../daemon/kernel/problem.ts'
import { command, Failure } from '../../../command.ts'
import { fields, show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'resolve registry export',
  summary: 'write a signed snapshot of the registry, for a peer that only looks records up',
  notes: [
    'It has the records, entities and weights that the peer may see by their labels, and that the caller may see, and nothing',
    'else. It is not encrypted: carry it as what it is.',
  ].join('\n'),
  options: {
    to: needed(text('PEER', 'the site that it is for')),
    out: needed(text('FILE', 'a new file')),
    lens: text('LENS', 'uid or name of the lens; the one in use unless said'),
    type: text('TYPE', 'kind of entity whose lens in use is meant'),
    ...serviceOptions,
  },
  example: 'platform resolve registry export --to edge --out persons.snapshot',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { to: peer, lens: lens_id, type: entity_type, out } = given
    const events = api.stream('resolution.registry.export', { peer, lens_id, entity_type })
    const manifest = await written(out, events, (records) => terminal.progress(`${records} lines`))
    terminal.progress('')
    const { label: _label, type: _type, v: _v, ...told } = manifest
    show(terminal, given.json, manifest, () => fields(terminal, told))
    return 0
  },
})

/** All of it, or no file. */
async function written(
  out: string,
  events: AsyncIterable<ServerEvent>,
  tell: (lines: number) => void,
): Promise<Record<string, unknown>> {
  // Asked before the file is made: what is refused leaves nothing behind.
  const iterator = events[Symbol.asyncIterator]()
  let next = await iterator.next()
  const opened = claimed(out)
  try {
    for (let lines = 0; !next.done; next = await iterator.next()) {
      const { event, data } = next.value
      if (event === 'problem') throw refusedOf(data, 500)
      if (event === 'ending') {
        const { line, manifest } = data as { line: string; manifest: Record<string, unknown> }
        writeAll(opened, `${line}\n`)
        fsyncSync(opened)
        return manifest
      }
      const { lines: texts } = data as { lines: string[] }
      writeAll(opened, `${texts.join('\n')}\n`)
      lines += texts.length
      tell(lines)
    }
    throw new Failure(4, 'the service ended before the snapshot was whole', 'try again')
  } catch (error) {
    offline.asInvoker(() => rmSync(out, { force: true }))
    if (isRefused(error) || error instanceof Failure) throw error
    throw new Failure(1, `${out} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  } finally {
    closeSync(opened)
  }
}

function claimed(out: string): number {
  try {
    return offline.asInvoker(() => openSync(out, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Failure(3, `${out} exists already`, 'name another file')
    throw new Failure(1, `${out} cannot be written: ${code}`)
  }
}

/** The system may take less than it was given. */
function writeAll(opened: number, said: string): void {
  const bytes = Buffer.from(said)
  for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at)
}
