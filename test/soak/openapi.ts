// Requests derived from the served documents, more for each operation than a check of every tier has time for.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const examples_per_operation = 25

export const usual_seeds = 4

/** Needs SCHEMATHESIS. Throws with the output of the run, which names each wrong answer and its request. */
export async function soak(seed: number): Promise<Record<string, number>> {
  const env = {
    ...process.env,
    REQUIRE_REAL: '1',
    SCHEMATHESIS_SEED: String(seed),
    SCHEMATHESIS_EXAMPLES: String(examples_per_operation),
  }
  const words = ['run', 'test/openapi/schemathesis.test.ts']
  await promisify(execFile)('node_modules/.bin/vitest', words, { cwd: repositoryRoot, env, maxBuffer: 2 ** 26 }).catch(
    (error: { stdout?: string }) => {
      throw new Error(error.stdout ?? String(error))
    },
  )
  return { examples: examples_per_operation }
}
