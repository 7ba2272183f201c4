// Opens the sandbox for commands that a role runs, and reports at the start what the kernel of this machine gives.
import { openControlGroups } from '../../../adapters/sandbox/linux/control-group.ts'
import { openSandbox } from '../../../adapters/sandbox/linux/open-sandbox.ts'
import { removeAbandonedFolders } from '../../../adapters/sandbox/linux/run-folder.ts'
import type { Sandbox, SandboxLimits } from '../../kernel/sandbox/sandbox.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

/** Throws where no command can be bounded by these limits. */
export async function openCommandSandbox(log: Log, limits: SandboxLimits): Promise<Sandbox> {
  await removeAbandonedFolders()
  const sandbox = await openSandbox(limits, await openControlGroups())
  const { isolation, shortfalls } = sandbox
  if (isolation === 'namespaces') log.info('platform.sandbox.opened', { isolation, shortfalls })
  else log.warn('platform.sandbox.weak', { isolation, shortfalls })
  return sandbox
}
