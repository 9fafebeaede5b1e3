import type { Page } from './page.ts'
import type { PageName } from './router.ts'

/** The pages of a run by the name in their address; each is loaded when somebody goes there. */
const loaders = {
  overview: async () => (await import('./page-overview.ts')).overviewPage,
  nodes: async () => (await import('./page-nodes.ts')).nodesPage,
  components: async () => (await import('./page-components.ts')).componentsPage,
  rollouts: async () => (await import('./page-rollouts.ts')).rolloutsPage,
  evaluation: async () => (await import('./page-evaluation.ts')).evaluationPage,
  judge: async () => (await import('./page-judge.ts')).judgePage,
} as const satisfies Record<PageName, () => Promise<Page>>

export const pageTitles = {
  overview: 'Overview',
  nodes: 'Nodes',
  components: 'Components',
  rollouts: 'Rollouts',
  evaluation: 'Evaluation',
  judge: 'Judge',
} as const satisfies Record<PageName, string>

export const loadPage = (name: PageName | 'runs'): Promise<Page> =>
  name === 'runs' ? import('./page-runs.ts').then(({ runsPage }) => runsPage) : loaders[name]()

/** Loads the others behind the first page: they are there when the server is gone for a while. */
export const loadOthers = (): void => {
  for (const load of [() => loadPage('runs'), ...Object.values(loaders)]) void load().catch(() => undefined)
}
