// A site among its peers: one spoke for each direction of each link, by its state.
import { html, type Markup } from '../markup.ts'
import type { ReportTone } from '../parts.ts'
import { drawLine, drawText, fitLabel, renderFigure } from './figure.ts'

export type StarPeer = {
  readonly name: string
  readonly out: ReportTone | undefined
  readonly in: ReportTone | undefined
  readonly text: string
}

const [width, middle_x] = [760, 380] as const
const max_peers = 24
const name_letters = 20

export function renderStarChart(center: string, peers: readonly StarPeer[]): Markup {
  const shown = peers.slice(0, max_peers)
  const height = shown.length <= 2 ? 170 : shown.length <= 8 ? 320 : 440
  const [middle_y, across, down] = [height / 2, 250, height / 2 - 44]
  const spokes = shown.flatMap((peer, at) => {
    const angle = (2 * Math.PI * at) / shown.length + (shown.length === 2 ? Math.PI : -Math.PI / 2)
    const [x, y] = [middle_x + across * Math.cos(angle), middle_y + down * Math.sin(angle)]
    const [dx, dy] = [-Math.sin(angle) * 5, Math.cos(angle) * 5]
    const spoke = (tone: ReportTone | undefined, side: 1 | -1) =>
      tone === undefined
        ? []
        : [drawLine(`spoke ${tone}`, middle_x + side * dx, middle_y + side * dy, x + side * dx, y + side * dy)]
    const worst = [peer.out, peer.in].includes('poor') ? 'poor' : [peer.out, peer.in].includes('fair') ? 'fair' : 'good'
    const isLow = y > middle_y
    return [
      ...spoke(peer.out, 1),
      ...spoke(peer.in, -1),
      html`<circle class="node ${worst}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="9"/>`,
      drawText(x, isLow ? y + 25 : y - 27, fitLabel(peer.name, name_letters), 'middle', 'strong'),
      drawText(x, isLow ? y + 39 : y - 14, peer.text, 'middle', 'tick'),
    ]
  })
  const omitted = peers.length > shown.length ? ` The first ${shown.length} of ${peers.length} peers are drawn.` : ''
  return renderFigure({
    title: 'Links to the peers',
    description: `Two lines to each peer: what this site sends, and what arrives. A full line is open, a dashed one needs attention, a dotted one is stopped or frozen.${omitted}`,
    ...{ width, height },
    content: [
      ...spokes,
      html`<circle class="node own" cx="${middle_x}" cy="${middle_y}" r="14"/>`,
      drawText(middle_x, middle_y + 32, fitLabel(center, name_letters), 'middle', 'strong'),
    ],
    table: {
      caption: 'Peers',
      columns: ['peer', 'state'],
      rows: shown.map(({ name, text }) => [name, text]),
      total: peers.length,
    },
  })
}
