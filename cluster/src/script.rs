//! Scripts for schedulers that Simutant does not start itself: text to copy and adapt.

use std::num::NonZeroU32;

/// A scheduler that runs shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Machines that are reached by ssh, with GNU parallel.
    Parallel,
    /// Kubernetes, as an Indexed Job.
    Kubernetes,
    /// GitHub Actions, as a matrix.
    Github,
    /// HyperQueue, as an array.
    HyperQueue,
}

/// A script that runs the shards of a bundle, one task for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<'a> {
    /// The bundle's folder as the machines that run shards see it, quoted for a shell.
    pub bundle: &'a str,
    /// The system's name.
    pub system: &'a str,
    /// The bundle's identity.
    pub id: &'a str,
    /// The number of shards.
    pub shards: NonZeroU32,
    /// Memory that a shard needs, in bytes.
    pub memory_bytes: u64,
}

impl Script<'_> {
    /// Returns the text of the script for a scheduler. Each task writes the result of its shard into a file of its own.
    pub fn text(&self, place: Place) -> String {
        let &Self { bundle, system, id, shards, memory_bytes } = self;
        let mebibytes = memory_bytes.div_ceil(1 << 20);
        let last = shards.get() - 1;
        match place {
            Place::Parallel => format!(
                "\
# GNU parallel over ssh. Machines have one folder in common, with the bundle; `1/HOST` runs one shard at a time there.
mkdir -p results
parallel --quote --sshlogin 1/HOST1,1/HOST2 --wd . --retries 3 --joblog shards.log \\
    {bundle}/simutant shard {bundle} {{}}/{shards} --into results/{{}}.sqlite --id {id} ::: $(seq 0 {last})
"
            ),
            Place::HyperQueue => format!(
                "\
# HyperQueue: a server and workers run already (`hq server start`, `hq worker start`, or `hq alloc add slurm`).
mkdir -p results
hq submit --array 0-{last} --cpus 1 --crash-limit 3 --wait -- \\
    sh -c 'exec \"$0/simutant\" shard \"$0\" \"$HQ_TASK_ID/{shards}\" --into \"results/$HQ_TASK_ID.sqlite\" --id {id} --jobs 1' {bundle}
"
            ),
            Place::Github => format!(
                "\
# GitHub Actions: one job prepares, one for each shard runs, one merges. `simutant` is installed in the first and the last;
# shards take it from the bundle. Give both `simutant study` the options of the study, such as --cases and --seed.
name: study of {system}
on: workflow_dispatch
jobs:
  prepare:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: simutant study {system} --prepare bundle
      # An artifact keeps no permissions, and a shard runs programs of the bundle.
      - run: tar --create --file bundle.tar bundle
      - uses: actions/upload-artifact@v4
        with: {{ name: bundle, path: bundle.tar }}
  shard:
    needs: prepare
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix: {{ k: [{numbers}] }}
    steps:
      - uses: actions/download-artifact@v4
        with: {{ name: bundle }}
      - run: tar --extract --file bundle.tar
      - run: bundle/simutant shard bundle ${{{{ matrix.k }}}}/{shards} --into ${{{{ matrix.k }}}}.sqlite
      - uses: actions/upload-artifact@v4
        with: {{ name: 'result-${{{{ matrix.k }}}}', path: '${{{{ matrix.k }}}}.sqlite' }}
  merge:
    needs: shard
    # The study runs what a shard could not.
    if: ${{{{ !cancelled() }}}}
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with: {{ merge-multiple: true }}
      - run: tar --extract --file bundle.tar
      - run: simutant merge out/{system} *.sqlite --bundle bundle || [ $? -eq 7 ]
      - run: simutant study {system}
      - uses: actions/upload-artifact@v4
        with: {{ name: study, path: out/{system} }}
",
                numbers = (0..shards.get()).map(|shard| shard.to_string()).collect::<Vec<_>>().join(", "),
            ),
            Place::Kubernetes => format!(
                "\
# Kubernetes: an Indexed Job. The claims `bundle` and `results` are volumes that all pods see; the files of the bundle belong
# to the user that pods run as, 1000 here. Exit codes 1 and 3 are errors
# that another pod would have, too. Two pods of one index can run at once; that does no harm.
apiVersion: batch/v1
kind: Job
metadata: {{ name: simutant-{name} }}
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
      - {{ action: Ignore, onPodConditions: [{{ type: DisruptionTarget }}] }}
      - {{ action: FailJob, onExitCodes: {{ operator: In, values: [1, 3] }} }}
  template:
    spec:
      restartPolicy: Never
      securityContext: {{ runAsNonRoot: true, runAsUser: 1000 }}
      containers:
        - name: shard
          image: debian:stable-slim
          command:
            - sh
            - -c
            - exec /bundle/simutant shard /bundle \"$JOB_COMPLETION_INDEX/{shards}\" --into \"/results/$JOB_COMPLETION_INDEX.sqlite\" --id {id} --jobs 1
          resources: {{ requests: {{ cpu: 1, memory: {mebibytes}Mi }}, limits: {{ memory: {mebibytes}Mi }} }}
          volumeMounts:
            - {{ name: bundle, mountPath: /bundle, readOnly: true }}
            - {{ name: results, mountPath: /results }}
            - {{ name: tmp, mountPath: /tmp }}
      volumes:
        - {{ name: bundle, persistentVolumeClaim: {{ claimName: bundle, readOnly: true }} }}
        - {{ name: results, persistentVolumeClaim: {{ claimName: results }} }}
        - {{ name: tmp, emptyDir: {{}} }}
",
                name = system.replace('_', "-").to_lowercase(),
            ),
        }
    }
}
