// Runs the site's roles in this process until SIGTERM or SIGINT.
import { loadInLittleMemory } from '../../daemon/boot/host/heap-growth.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { requireOwnSite, siteOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { choice, integer, rest } from '../program/params.ts'

export const definition = command({
  words: 'serve',
  summary: 'Run roles of the site',
  notes: 'SIGTERM and SIGINT stop it in order; a second signal stops it at once.',
  positionals: { roles: rest('ROLE', 'Roles to run (default: platform.roles of the profile)') },
  options: {
    logLevel: choice('LEVEL', 'Minimum severity of log lines; default: platform.log_level', [
      'debug',
      'info',
      'warn',
      'error',
    ]),
    drain: integer('MS', 'Maximum wait for active requests at a stop (default: platform.drain_ms)', 0, 600_000),
    ...siteOption,
  },
  example: 'platform serve site consensus --site ./site',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const endLoading = loadInLittleMemory()
    const { serve } = await import('../../daemon/boot/serve.ts')
    const flags = {
      ...(params.logLevel === undefined ? {} : { 'platform.log_level': params.logLevel }),
      ...(params.drain === undefined ? {} : { 'platform.drain_ms': params.drain }),
    }
    const roles = params.roles.length ? { roles: [...params.roles] } : {}
    // Registered before the roles start, so that a signal during the start also stops them in order.
    const stopSignal = waitForStopSignal()
    const running = await serve({ folder, env: terminal.env, flags, ...roles }).catch(rethrowConflict)
    endLoading()
    await stopSignal
    await running.stop()
    return 0
  },
})

/** Reports a conflict with another process, instead of the usual conflict between two changes of an object. */
function rethrowConflict(error: unknown): never {
  if (!isRefusal(error) || error.code !== 'conflict') throw error
  throw new CommandFailure(3, error.message, '`platform status` shows what runs')
}

/** Resolves at the first signal. A second signal exits at once with 130 or 143, as shells expect. */
function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = (signal: NodeJS.Signals) => {
      if (isStopping) process.exit(signal === 'SIGINT' ? 130 : 143)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
