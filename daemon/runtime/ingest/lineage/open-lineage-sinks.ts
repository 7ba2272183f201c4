// Opens the sinks of lineage that the profile names.
import { open } from 'node:fs/promises'
import { openLineageCollector } from '../../../../adapters/lineage/http/lineage-collector.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import type { LineageSink, LineageSinkSettings } from '../../../roles/ingest/lineage/sink.ts'

export function openLineageSinks(settings: readonly LineageSinkSettings[]): LineageSink[] {
  return settings.map((sink) => {
    if ('file' in sink) return { clearance: sink.clearance, write: (events) => appendLines(sink.file, events) }
    const collector = openLineageCollector(sink)
    return { clearance: sink.clearance, write: (events, call) => collector.post(events, call) }
  })
}

/** Opens the file each time, so that another program may take it away when it is large. */
async function appendLines(file: string, events: readonly unknown[]): Promise<void> {
  try {
    const opened = await open(file, 'a', 0o600)
    try {
      await opened.appendFile(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      await opened.sync()
    } finally {
      await opened.close()
    }
  } catch (error) {
    throw refuse('unavailable', `events of lineage cannot be written: ${(error as NodeJS.ErrnoException).code}`)
  }
}
