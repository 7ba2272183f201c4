// Performs `filedrop_send`: hands the parts of a dataset to the channel of a peer, in the name of the site, for a principal that may.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import { checkChannelTenant, checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { sendMessage } from '../../../shared/site-message/site-message.ts'
import { type DatasetPart, dataset_part_schema } from '../federation/model.ts'
import { filedropSend } from '../operator/filedrop-send.ts'
import { type CutDataset, datasetCutterPart } from '../parts.ts'
import { runFolderName } from '../runner/model.ts'
import type { RequestedTaskOutcome, RequestingRun } from './task-request.ts'

export async function sendDataset(call: JobCall, requesting: RequestingRun): Promise<RequestedTaskOutcome | Refusal> {
  try {
    return await sendOnce(call, requesting)
  } catch (error) {
    // Such as that of an unknown peer: the next look would meet it again.
    if (isRefusal(error) && !error.row.retryable) return error
    throw error
  }
}

async function sendOnce(call: JobCall, requesting: RequestingRun): Promise<RequestedTaskOutcome | Refusal> {
  const { id, run, task } = requesting
  const { peer, dataset: name } = filedropSend.params.parse(task.params)
  if (!permits(call.caller.permissions, 'ingest:send'))
    return refuse('forbidden', 'filedrop_send needs the permission ingest:send of the person for whom the run is')
  const refused = checkChannelTenant(call, run.tenant_id) ?? (await checkCrossing(call, peer, run.label))
  if (refused) return refused
  const dataset = run.tasks.find(({ name: of, dataset: made }) => made && task.after.includes(of))?.dataset
  if (!dataset) return refuse('not_found', 'no task before it has made a dataset')
  const cut = await call.part(datasetCutterPart).cut(run.tenant_id, dataset, call.signal)
  if ('failure' in cut) return { log: `${cut.failure.reason}\n`, failure: cut.failure }
  try {
    // A run that was deleted may have had the id.
    const set_id = canonicalDigest([runFolderName({ id, value: run }), task.name]).slice(0, 32)
    await call.record([
      call.audited(
        'ingest.dataset.send',
        id,
        { peer, dataset: name, set_id, rows: cut.rows, parts: cut.parts },
        run.label,
      ),
    ])
    await sendParts(call, { peer, name, set_id, cut, label: run.label })
    const log = `sent ${cut.rows} rows to ${peer} in ${cut.parts} messages, as the set ${set_id}\n`
    return { log, requested: { role: 'site', object: 'sent_dataset', uid: set_id } }
  } finally {
    await cut.close()
  }
}

type Sending = Pick<DatasetPart, 'name' | 'set_id'> & {
  readonly peer: string
  readonly cut: CutDataset
  readonly label: RequestingRun['run']['label']
}

/** A part that was handed over before has the same id, by which the channel finds it. */
async function sendParts(call: JobCall, { peer, name, set_id, cut, label }: Sending): Promise<void> {
  const { parts, rows: total_rows, sha256, columns } = cut
  for (let number = 1; number <= parts; number++) {
    call.signal.throwIfAborted()
    const rows = await cut.read(number)
    const body = { set_id, name, number, parts, total_rows, sha256, columns, rows } satisfies DatasetPart
    await sendMessage(call, {
      ...{ peer, event_id: `dataset:${set_id}:${number}`, kind: 'dataset', schema: dataset_part_schema },
      ...{ label, body, parent_block_ids: [] },
    })
  }
}
