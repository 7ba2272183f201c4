// Probabilities on the scale of log-odds, bounded: the mean of two is not ruled by the more extreme one.
import { logistic, logit } from '../score/model.ts'

/** No estimate from data is closer to 0 or 1. */
const min_probability = 0.005

export function boundedLogit(probability: number): number {
  return logit(Math.max(min_probability, Math.min(1 - min_probability, probability)))
}

export function meanByLogOdds(one: number, other: number): number {
  return logistic((boundedLogit(one) + boundedLogit(other)) / 2)
}
