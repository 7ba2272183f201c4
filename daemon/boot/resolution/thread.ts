// Where a thread begins that carries out a phase of a run; the executable holds it as a bundle of its own.
import { inThread } from '../../../adapters/compute/threads/thread-side.ts'
import { carryOutPhase, type ThreadJob } from './phases.ts'

inThread((input, tell) => carryOutPhase(input as ThreadJob, tell))
