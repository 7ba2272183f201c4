// The part of the guidance layer that learns.
import { part } from '../../../../kernel/role/part.ts'
import type { Learner } from './learner.ts'

export const learningPart = part<Learner>('guide-learning')
