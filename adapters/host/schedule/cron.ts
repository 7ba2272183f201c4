// Runs something at the times of a cron expression, in UTC.
import { schedule, validate } from 'node-cron'

/** Whether the expression is one that node-cron understands. */
export function isCron(expression: string): boolean {
  return validate(expression)
}

/**
 * Calls `run` at each time that the expression names, until stopped; late for times that passed while the process was
 * suspended or blocked. Throws for an expression that is no cron.
 */
export function onSchedule(expression: string, run: () => void): { stop(): void } {
  const task = schedule(expression, run, { timezone: 'UTC' })
  task.on('execution:missed', run)
  return { stop: () => void task.destroy() }
}
