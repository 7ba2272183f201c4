// The part of the guidance layer that learns by its model.
import { part } from '../../../../kernel/role/part.ts'
import type { SynthesisQueue } from './synthesis-queue.ts'

export const synthesisPart = part<SynthesisQueue>('guide-synthesis')

/** The worker that performs syntheses. */
export const synthesis_worker = 'synthesise-guidance'
