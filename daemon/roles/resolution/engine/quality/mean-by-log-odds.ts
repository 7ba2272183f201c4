// The mean of two probabilities on the scale of log-odds, on which neither outweighs the other by being extreme.
import { logit } from '../score/model.ts'

/** Beyond these, an estimate from data is no more certain. */
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
