// Probabilities on the scale of log-odds, bounded: the mean of two is not ruled by the more extreme one.
import { logit } from '../score/model.ts'

/** No estimate from data is closer to 0 or 1. */
const min_probability = 0.005

export function boundedLogit(probability: number): number {
  return logit(Math.max(min_probability, Math.min(1 - min_probability, probability)))
}

export function logistic(log_odds: number): number {
  return 1 / (1 + Math.exp(-log_odds))
}

export function meanByLogOdds(one: number, other: number): number {
  return logistic((boundedLogit(one) + boundedLogit(other)) / 2)
}
