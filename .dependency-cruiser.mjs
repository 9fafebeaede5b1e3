/** One-way order, lowest first. A folder may import itself and anything below it. */
const layers = ['data', 'judge', 'rewards', 'trainer', 'configs', 'scripts']
const upward = layers.slice(0, -1).map((layer, i) => ({
  name: `${layer}-imports-upward`,
  comment: `${layer}/ may import only: ${layers.slice(0, i + 1).join(', ')}`,
  severity: 'error',
  from: { path: `^${layer}/` },
  to: { path: `^(${layers.slice(i + 1).join('|')}|test)/` },
}))
/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...upward,
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'reward-components-are-pure',
      severity: 'error',
      comment: 'components see only the contract, records, readings of a completion, and zod for their caps',
      from: { path: '^rewards/(components|sanity)/' },
      to: {
        pathNot:
          '^(rewards/(define-reward|evidence)\\.ts|rewards/sanity/|data/(records|completion)/|node_modules/zod/)',
      },
    },
    {
      name: 'one-reward-never-imports-another',
      severity: 'error',
      from: { path: '^rewards/components/([^/]+)\\.ts$' },
      to: { path: '^rewards/components/', pathNot: '^rewards/components/$1\\.ts$' },
    },
    {
      name: 'openai-only-at-the-edge',
      severity: 'error',
      from: { pathNot: '^(judge/llm/endpoint\\.ts|test/)' },
      to: { path: 'node_modules/openai' },
    },
    {
      name: 'dashboard-reads-files-only',
      severity: 'error',
      comment: 'of the trainer it knows how to read an evaluation on record, and whether a run is alive',
      from: { path: '^trainer/dashboard/' },
      to: {
        path: '^trainer/(?!dashboard/|lock\\.ts$|supervision/run-state\\.ts$|evaluation/(load\\.ts|report/)|statistics/)',
      },
    },
    {
      name: 'dashboard-pages-load-nothing-of-the-server',
      severity: 'error',
      comment: 'a browser loads them: types may come from elsewhere, code may not',
      from: { path: '^trainer/dashboard/page/' },
      to: { pathNot: '^trainer/dashboard/page/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'nobody-imports-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: {},
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'dev-packages-only-in-tests',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
