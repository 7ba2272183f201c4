// Opens the sandbox for commands that a role runs, and reports at the start what the kernel of this machine gives.
import { openSandbox } from '../../../adapters/sandbox/linux/linux-sandbox.ts'
import type { Sandbox } from '../../kernel/sandbox/sandbox.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

/** Throws where no command can be bounded at all. */
export async function openCommandSandbox(log: Log): Promise<Sandbox> {
  const sandbox = await openSandbox()
  const { isolation, shortfall } = sandbox
  if (shortfall === undefined) log.info('platform.sandbox.opened', { isolation })
  else log.warn('platform.sandbox.weak', { isolation, shortfall })
  return sandbox
}
