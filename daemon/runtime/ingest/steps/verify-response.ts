// Performs `verify_response_json`: a value that is not as expected fails the task, with hop, path and both values.
import type { JsonValue } from '../../../roles/ingest/journey-test/key-path.ts'
import { findMismatch, type Mismatch } from '../../../roles/ingest/journey-test/matcher.ts'
import { valueTestOf } from '../../../roles/ingest/journey-test/verification.ts'
import { verifyResponseJson } from '../../../roles/ingest/operator/verify-response-json.ts'
import type { TaskOutcome } from '../../../roles/ingest/parts.ts'
import { readResponse } from '../http-target/captured-response.ts'
import type { TaskThreadJob } from '../thread-job.ts'

export async function verifyResponse(job: TaskThreadJob): Promise<TaskOutcome> {
  const params = verifyResponseJson.params.parse(job.task.params)
  const [summary] = job.inputs
  if (!summary) throw new Error('a verification takes a response')
  const hop = summary.dataset.split('/').at(-1)
  const { request, status, body } = await readResponse(job, summary)
  const test = valueTestOf(params)
  const wrong = findStatusMismatch(params.status, status) ?? (test && findValueMismatch(body, test))
  if (!wrong) return { log: `the response of ${hop} (${request}) is as expected\n` }
  const at = 'path' in wrong ? `at "${wrong.path}" ` : ''
  const reason = `the response of ${hop} (${request}): ${at}expected ${wrong.expected}, found ${wrong.found}`
  return { log: `${reason}\n`, failure: { reason, isFinal: true } }
}

function findStatusMismatch(
  expected: number | undefined,
  found: number | undefined,
): Omit<Mismatch, 'path'> | undefined {
  if (expected === undefined || found === expected) return undefined
  return { expected: `status ${expected}`, found: found === undefined ? 'no status, as of a tool' : `${found}` }
}

function findValueMismatch(
  body: JsonValue | undefined,
  test: NonNullable<ReturnType<typeof valueTestOf>>,
): Mismatch | undefined {
  const wrong = findMismatch(body, test)
  return wrong && body === undefined ? { ...wrong, found: 'a body that is not JSON' } : wrong
}
