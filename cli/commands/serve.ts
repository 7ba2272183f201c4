// Runs the site's roles in this process until SIGTERM or SIGINT.
import { keepHeapSmall, letYoungSpaceGrow } from '../../daemon/boot/host/heap-growth.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { requireSite, siteOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { choice, integer, rest } from '../program/params.ts'

export const definition = command({
  words: 'serve',
  summary: 'Run roles of the site',
  notes: 'SIGTERM and SIGINT stop it in order; a second signal stops it at once.',
  positionals: { roles: rest('ROLE', 'Roles to run (default: platform.roles of the profile)') },
  options: {
    logLevel: choice('LEVEL', 'Minimum severity of log lines', ['debug', 'info', 'warn', 'error']),
    drain: integer('MS', 'Maximum wait for active requests at a stop', 0, 600_000),
    ...siteOption,
  },
  example: 'platform serve site consensus --site ./site',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    keepHeapSmall()
    const { serve } = await import('../../daemon/boot/serve.ts')
    const flags = {
      ...(given.logLevel === undefined ? {} : { 'platform.log_level': given.logLevel }),
      ...(given.drain === undefined ? {} : { 'platform.drain_ms': given.drain }),
    }
    const roles = given.roles.length ? { roles: [...given.roles] } : {}
    // Before anything starts: a stop that comes while roles are starting is an orderly one too.
    const asked = waitForStopSignal()
    const running = await serve({ folder, env: terminal.env, flags, ...roles }).catch(rethrowConflict)
    letYoungSpaceGrow()
    await asked
    await running.stop()
    return 0
  },
})

/** Here a conflict is another process, not a change of an object. */
function rethrowConflict(error: unknown): never {
  if (!isRefusal(error) || error.code !== 'conflict') throw error
  throw new CommandFailure(3, error.message, '`platform status` shows what runs')
}

/** Resolves with the first signal. A second one is a person who has lost patience: 130 and 143 are what a shell expects. */
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
