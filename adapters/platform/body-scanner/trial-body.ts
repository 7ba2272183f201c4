// A body that every scanner passes: a scanner that does not is broken, whatever its exit code says.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { type LabelPolicy, lowestLabel } from '../../../daemon/kernel/label/label.ts'

/** The name that the body of a message has, with a number that no message has. */
const trial_name = '00000000-0000000000000000.body.json'

/** Of the site's lowest level, for the site alone, and without data. */
export function trialBody(tenant_id: string, label_policy: LabelPolicy): string {
  const label = lowestLabel(tenant_id, label_policy, tenant_id)
  return canonicalJson({ data: {}, label, schema: 'scanner-trial.v1' })
}

/** Passes the path of a file with the body, which is gone afterwards. */
export async function withTrialFile<T>(body: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-trial-'))
  try {
    const path = join(folder, trial_name)
    await writeFile(path, body, { mode: 0o600 })
    return await use(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
