// Runs something at the times of a cron expression, in UTC.
import { createTask, schedule, validate } from 'node-cron'

/** Whether the expression is one that node-cron understands. */
export function isCron(expression: string): boolean {
  return validate(expression)
}

/**
 * Calls `run` at each time that the expression names, until stopped; late for times that passed while the process was
 * suspended or blocked. Throws for an invalid cron expression.
 */
export function runOnSchedule(expression: string, run: () => void): { stop(): void } {
  const task = schedule(expression, run, { timezone: 'UTC' })
  task.on('execution:missed', run)
  return { stop: () => void task.destroy() }
}

/** The next time of the expression by the machine's clock, in epoch milliseconds. Throws for an invalid cron expression. */
export function findNextTime(expression: string): number {
  const task = createTask(expression, () => undefined, { timezone: 'UTC' })
  const [next] = task.getNextRuns(1)
  void task.destroy()
  return next?.getTime() ?? Number.POSITIVE_INFINITY
}
