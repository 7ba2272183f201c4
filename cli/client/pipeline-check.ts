// Waits for the check of the content of a pipeline.
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../program/command.ts'
import type { ServiceClient } from './client.ts'
import { type FoundPipeline, parsePipeline } from './find-pipeline.ts'

const max_looks = 3_000
const poll_interval_ms = 200

/** It goes on in the service if the command is interrupted. Throws `CommandFailure` (1) after ten minutes. */
export async function waitForCheck(
  api: ServiceClient,
  uid: string,
  onWait: (line: string) => void = () => undefined,
): Promise<FoundPipeline> {
  try {
    for (let look = 0; look < max_looks; look++) {
      const pipeline = parsePipeline(await api.call('ingest.datapipeline.get', { uid }))
      if (pipeline.status !== 'pending_validation') return pipeline
      onWait(`the content of ${pipeline.dag_id} is checked`)
      await pause(poll_interval_ms)
    }
  } finally {
    onWait('')
  }
  throw new CommandFailure(1, 'the check has not ended within 10 minutes', 'look again: platform ingest pipelines')
}
