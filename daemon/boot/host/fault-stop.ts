// Ends this process where a test wants it to die. Only a build with fault points holds any of it.
import { writeSync } from 'node:fs'
import { type FaultPoint, faultPoints } from './fault-points.ts'

/** Put in by the build; nothing puts it in where the sources themselves run. */
declare const HAS_FAULT_POINTS: boolean | undefined

/** Undefined in every build that is not for tests. */
export const faultStop: ((step: FaultPoint) => void) | undefined =
  typeof HAS_FAULT_POINTS !== 'undefined' && HAS_FAULT_POINTS
    ? buildFaultStop(process.env.PLATFORM_FAULT_POINT ?? '')
    : undefined

/** `name` or `name:nth`, of the closed list; empty: nowhere. The kernel ends the process, and nothing is flushed. */
function buildFaultStop(wanted: string): typeof faultStop {
  if (wanted === '') return undefined
  const [name, nth = '1'] = wanted.split(':')
  if (!faultPoints.some((point) => point === name)) throw new Error(`there is no fault point ${name}`)
  let left = Number(nth)
  return (step) => {
    if (step !== name) return
    left -= 1
    if (left > 0) return
    writeSync(2, `fault point ${wanted}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}
