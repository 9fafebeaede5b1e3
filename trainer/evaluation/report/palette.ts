import type { NodeId } from '../../../data/records/node.ts'

export type Theme = 'light' | 'dark'

/**
 * Colours that stay apart under the common colour-vision deficiencies and reach 3 : 1 against their background. Colour is
 * never the only channel: nodes have marker shapes too, and the base is dashed and hollow where the trained model is solid.
 */
export const background: Readonly<Record<Theme, string>> = { light: '#FFFFFF', dark: '#14181D' }
export const ink: Readonly<Record<Theme, string>> = { light: '#1B1F24', dark: '#E6EAF0' }
export const muted: Readonly<Record<Theme, string>> = { light: '#5A626C', dark: '#A0A9B4' }

export const modelColours: Readonly<Record<'base' | 'trained', Readonly<Record<Theme, string>>>> = {
  base: { light: '#767676', dark: '#8A8A8A' },
  trained: { light: '#0072B2', dark: '#3C9BD6' },
}

export const nodeColours: Readonly<Record<NodeId, Readonly<Record<Theme, string>>>> = {
  n1: { light: '#6688FF', dark: '#2277AA' },
  n2: { light: '#BB8811', dark: '#EEAA11' },
  n3: { light: '#227766', dark: '#77DDBB' },
  n4: { light: '#992211', dark: '#CC4455' },
  n5: { light: '#880099', dark: '#DDBBFF' },
}

const rules = (theme: Theme): string =>
  [
    `.bg{fill:${background[theme]}}`,
    `text{fill:${ink[theme]}}`,
    `.muted{fill:${muted[theme]}}`,
    `.axis{stroke:${muted[theme]};stroke-width:1;fill:none}`,
    `.base{fill:${background[theme]};stroke:${modelColours.base[theme]};stroke-width:1.5;stroke-dasharray:4 3}`,
    `.trained{fill:${modelColours.trained[theme]};stroke:${modelColours.trained[theme]};stroke-width:1.5}`,
    `.limit{stroke:${ink[theme]};stroke-width:1.5}`,
    ...Object.entries(nodeColours).map(
      ([node, colours]) => `.${node}{fill:${colours[theme]};stroke:${colours[theme]};stroke-width:1.5}`,
    ),
  ].join('')

/** Style of every chart: light, and dark where the reader asks for it. */
export const chartStyle = `text{font:12px system-ui,sans-serif;font-variant-numeric:tabular-nums}${rules('light')}@media (prefers-color-scheme:dark){${rules('dark')}}`
