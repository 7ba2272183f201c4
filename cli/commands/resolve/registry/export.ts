// Writes a signed snapshot of the registry, limited to what the peer may see.
import { closeSync, openSync, rmSync } from 'node:fs'
import { syncNewFile, writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import { refusalFromProblem } from '../../../../daemon/kernel/error/problem.ts'
import type { ServerEvent } from '../../../../daemon/kernel/operation/operation.ts'
import { offline } from '../../../../daemon/offline/offline.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve registry export',
  summary: 'Export a signed snapshot of the registry for a peer',
  notes: [
    'For a peer that only looks records up. Contains the records, entities and weights whose labels both the peer',
    'and the caller may see. It is not encrypted: carry it according to its label.',
  ].join('\n'),
  options: {
    to: required(text('PEER', 'Peer that the snapshot is for')),
    out: required(text('FILE', 'File to create')),
    lens: text('LENS', 'Uid or name of the lens (default: the one in use)'),
    type: text('TYPE', 'Entity type, to select its lens in use'),
    ...serviceOptions,
  },
  example: 'platform resolve registry export --to edge --out persons.snapshot',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { to: peer, lens: lens_id, type: entity_type, out } = params
    const events = api.stream('resolution.registry.export', { peer, lens_id, entity_type })
    const manifest = await writeSnapshotFile(out, events, (records) => terminal.progress(`${records} lines`))
    terminal.progress('')
    const { label: _label, type: _type, v: _v, ...fields } = manifest
    printResult(terminal, params.json, manifest, () => formatFields(terminal, fields))
    return 0
  },
})

/** Writes the complete snapshot; removes the file after a failure. */
async function writeSnapshotFile(
  out: string,
  events: AsyncIterable<ServerEvent>,
  reportProgress: (lines: number) => void,
): Promise<Record<string, unknown>> {
  // The first event arrives before the file is created: a refused export leaves no file.
  const iterator = events[Symbol.asyncIterator]()
  let next = await iterator.next()
  const descriptor = createSnapshotFile(out)
  try {
    for (let lines = 0; !next.done; next = await iterator.next()) {
      const { event, data } = next.value
      if (event === 'problem') throw refusalFromProblem(data, 500)
      if (event === 'ending') {
        const { line, manifest } = data as { line: string; manifest: Record<string, unknown> }
        writeFully(descriptor, `${line}\n`)
        offline.asInvoker(() => syncNewFile(descriptor, out))
        return manifest
      }
      const { lines: texts } = data as { lines: string[] }
      writeFully(descriptor, `${texts.join('\n')}\n`)
      lines += texts.length
      reportProgress(lines)
    }
    throw new CommandFailure(4, 'the service stopped before the snapshot was complete', 'run it again')
  } catch (error) {
    offline.asInvoker(() => rmSync(out, { force: true }))
    if (isRefusal(error) || error instanceof CommandFailure) throw error
    throw new CommandFailure(1, `${out} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  } finally {
    closeSync(descriptor)
  }
}

function createSnapshotFile(out: string): number {
  try {
    return offline.asInvoker(() => openSync(out, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFailure(3, `${out} already exists`, 'name a new file')
    throw new CommandFailure(1, `${out} cannot be written: ${code}`)
  }
}
