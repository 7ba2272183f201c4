// Shows the state of the guidance layer.
import { formatGuideStats } from '../../format/guide-stats.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide stats',
  summary: 'Show counts, scores and health of the guidance layer, and services that have stopped to emit',
  options: serviceOptions,
  example: 'platform guide stats',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const stats = await api.call('gateway.guide.stats.get', {})
    printResult(terminal, params.json, stats, () => formatGuideStats(terminal, stats))
    return 0
  },
})
