// Performs `ingest_queue`: acknowledges the messages that it read once the dataset with them is durable.
import { ingestQueue } from '../../../roles/ingest/operator/ingest-queue.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { type MessageInputs, openMessageInputs } from '../connection/message-inputs.ts'
import { type DatasetPlace, landBlocks } from '../landing/land-blocks.ts'
import { examineInput } from '../landing/landing-input.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { landOnce, passFaultPoint } from './dataset-store.ts'
import { landInputs, landNothing, type ProgressReport } from './land-inputs.ts'

export async function performIngestQueue(job: TaskThreadJob, report: ProgressReport): Promise<TaskOutcome> {
  const limit = ingestQueue.params.parse(job.task.params).max_rejects ?? Number.MAX_SAFE_INTEGER
  let messages: MessageInputs | undefined
  try {
    const outcome = await landOnce(job, async (place) => {
      messages = await openMessageInputs(job)
      passFaultPoint(job, 'ingest-landing-staged')
      return [...(await land(place, messages, limit, report)), messages.news.remark]
    })
    // A try before has landed them: the queue may have them still, and the next run leaves them out.
    if (!messages) return outcome
    passFaultPoint(job, 'ingest-queue-landed')
    return await settle(job, messages, outcome)
  } finally {
    await messages?.close()
  }
}

async function land(
  place: DatasetPlace,
  { inputs, columns, news }: MessageInputs,
  limit: number,
  report: ProgressReport,
): Promise<readonly string[]> {
  if (news.isEmpty) return await landNothing(place, columns, news)
  if (columns.length === 0) return await landInputs(place, inputs, limit, report, [], news)
  return await landRejects(place, { inputs, columns, news }, limit)
}

/** Where no message is a row, the dataset has the columns of the one before. */
async function landRejects(
  place: DatasetPlace,
  { inputs, columns, news }: Pick<MessageInputs, 'inputs' | 'columns' | 'news'>,
  limit: number,
): Promise<readonly string[]> {
  const [input] = inputs
  if (!input) throw new Error('messages are one input')
  const { description } = await examineInput(input, () => undefined)
  await landBlocks({
    ...{ ...place, columns, limit: { count: limit } },
    async *make(rejects) {
      rejects.beginInput(input.name, 'line')
      for (const record of input.leftOut?.() ?? []) rejects.addWhole(record)
      yield { rows: 0, names: [], columns: [] }
    },
    describe: (rejects) => {
      const described = [{ ...description, rows: 0, rejects }]
      return { inputs: described, cursor: news.describeCursor(described) }
    },
  })
  return []
}

/** The dataset is durable whatever becomes of the acknowledgement. */
async function settle(job: TaskThreadJob, messages: MessageInputs, outcome: TaskOutcome): Promise<TaskOutcome> {
  if ('failure' in outcome || !outcome.cursor) return outcome
  try {
    await messages.acknowledge()
  } catch (error) {
    if (!(error instanceof RowSourceError)) throw error
    const line = `the messages have landed, and could not be acknowledged: ${error.message}; the next run leaves them out`
    return { ...outcome, log: `${outcome.log}${line}\n` }
  }
  passFaultPoint(job, 'ingest-queue-acknowledged')
  return { ...outcome, cursor: { ...outcome.cursor, settled: true } }
}
