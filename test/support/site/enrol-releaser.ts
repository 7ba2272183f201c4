// A person who may release from quarantine: a key on a medium of their own, enrolled at the site, and a token.
import path from 'node:path'
import type { WaivableReason } from '../../../daemon/kernel/messaging/release.ts'
import { runExecutable } from '../command/run-executable.ts'
import type { FederatedSite } from './packaged-federation.ts'

export type QuarantineReleaser = {
  /** Throws when it is refused, or nobody answers. */
  request(item: string, waive: WaivableReason): Promise<void>
  approve(item: string): Promise<void>
}

export async function enrolReleaser(site: FederatedSite, subject: string): Promise<QuarantineReleaser> {
  const base = path.dirname(site.dir)
  const dir = path.join(base, `${subject}-medium`)
  const out = path.join(base, `${subject}.json`)
  const made = await runToEnd(runExecutable(['keys', 'generate', '--use', 'personal', '--dir', dir, '--json']))
  const { kid, fingerprint } = JSON.parse(made) as { kid: string; fingerprint: string }
  await runToEnd(runExecutable(['keys', 'export', '--dir', dir, '--out', out]))
  await runToEnd(site.run(['people', 'add', subject, out, '--fingerprint', fingerprint]))
  const { token } = await site.as(subject, ['operator', 'admin'])
  const own = ['--key', path.join(dir, `${kid}.json`), '--token', token]
  const runQuarantine = async (...words: readonly string[]) => {
    await runToEnd(site.run(['filedrop', 'quarantine', ...words, ...own]))
  }
  return {
    request: (item, waive) => runQuarantine('request', item, '--waive', waive, '--reason', 'it was looked at'),
    approve: (item) => runQuarantine('approve', item),
  }
}

async function runToEnd(running: ReturnType<typeof runExecutable>): Promise<string> {
  const { exit, stdout, stderr } = await running
  if (exit !== 0) throw new Error(stderr)
  return stdout
}
