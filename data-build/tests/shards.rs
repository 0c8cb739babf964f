//! Embedding on several machines, tried with several processes.

use std::fs::OpenOptions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use josh::bundle::{Bundle, Manifest, read_manifest};

const SHARDS: usize = 4;

/// The bytes of a vector in the cache, with its key.
const ENTRY: u64 = 16 + 384;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/sample")
}

fn builder(verb: &str, cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.arg(verb).arg("--from").arg(sample()).arg("--cache").arg(cache);
    command
}

/// Builds the sample, and returns its manifest and what was said.
fn build(folder: &Path, name: &str, cache: &Path) -> (Manifest, String) {
    let out = folder.join(name);
    let output = builder("build", cache).arg("--out").arg(&out).output().expect("it runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{said}");
    (read_manifest(&out).expect("a bundle").1, said)
}

fn shard(cache: &Path, index: usize) -> Child {
    let mut command = builder("embed", cache);
    command.args(["--shard", &format!("{index}/{SHARDS}")]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
}

fn file_of(cache: &Path, index: usize) -> Option<PathBuf> {
    let suffix = format!(".shard-{index}-of-{SHARDS}");
    let found = std::fs::read_dir(cache).ok()?.flatten().map(|entry| entry.path());
    found.into_iter().find(|path| path.to_string_lossy().ends_with(&suffix))
}

/// Given four processes that each embed a share, one of which is killed and run again, when the
/// bundle is built with their cache, then it embeds nothing, and the bundle and its vectors are
/// those of one machine.
#[test]
fn shards_give_the_bundle_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, said) = build(folder.path(), "alone.db", &folder.path().join("alone"));
    assert!(said.contains("passages to embed, which takes about"), "{said}");

    let cache = folder.path().join("shards");
    let mut shards: Vec<Child> = (0..SHARDS).map(|index| shard(&cache, index)).collect();
    let mut killed = shards.remove(2);
    let deadline = Instant::now() + Duration::from_secs(300);
    let written = loop {
        let file = file_of(&cache, 2).filter(|file| file.metadata().is_ok_and(|m| m.len() > 0));
        if let Some(file) = file {
            break file;
        }
        assert!(Instant::now() < deadline, "a shard wrote nothing");
        std::thread::sleep(Duration::from_millis(1));
    };
    killed.kill().unwrap();
    killed.wait().unwrap();
    // A crash may leave part of an entry.
    let torn = OpenOptions::new().write(true).open(&written).unwrap();
    torn.set_len(torn.metadata().unwrap().len() / ENTRY * ENTRY - 7).unwrap();
    for mut shard in shards {
        assert!(shard.wait().unwrap().success());
    }
    assert!(shard(&cache, 2).wait().unwrap().success(), "it goes on");

    let vectors: u64 =
        (0..SHARDS).map(|at| file_of(&cache, at).unwrap().metadata().unwrap().len()).sum();
    let (together, said) = build(folder.path(), "together.db", &cache);
    assert!(!said.contains("to embed"), "everything was cached: {said}");
    assert_eq!(together.id, alone.id);
    // Not the sections: threads add vectors to the graph in another order each time.
    let [own, shared] = ["alone.db", "together.db"]
        .map(|name| Bundle::open(&folder.path().join(name)).expect("a bundle"));
    let [own, shared] = [&own, &shared].map(|bundle| bundle.vectors().expect("vectors"));
    assert_eq!(own.count(), shared.count());
    let is_same = |passage: u32| own.vector(passage) == shared.vector(passage);
    assert!((0..own.count()).all(is_same), "the same vectors, byte for byte");
    let count = alone.sources.iter().map(|source| source.vectors).sum::<u64>();
    assert!(vectors.is_multiple_of(ENTRY) && vectors / ENTRY <= count, "{vectors} bytes");
}

/// Given the files for clusters, when their commands run with what a cluster sets, then each share
/// is embedded, and the array queues one build.
#[test]
fn the_files_for_clusters_embed_every_share() {
    let folder = tempfile::tempdir().unwrap();
    let (data, programs) = (folder.path().join("data"), folder.path().join("programs"));
    for path in [&data, &programs] {
        std::fs::create_dir(path).unwrap();
    }
    std::os::unix::fs::symlink(sample(), data.join("federal-data")).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_josh-data-build"),
        programs.join("josh-data-build"),
    )
    .unwrap();
    let sbatch = programs.join("sbatch");
    std::fs::write(&sbatch, "#!/bin/sh\necho \"$@\" >> queued\n").unwrap();
    std::fs::set_permissions(&sbatch, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shell = |arguments: &[&str], variables: &[(&str, &str)]| {
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(arguments).current_dir(&data).env("PATH", path);
        let output = command.envs(variables.iter().copied()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/cluster");
    let slurm = cluster.join("slurm.sh");
    for task in ["3", "4"] {
        let variables = [
            ("SLURM_ARRAY_TASK_ID", task),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_JOB_ID", "77"),
        ];
        shell(&[slurm.to_str().unwrap()], &variables);
    }
    let queued = std::fs::read_to_string(data.join("queued")).unwrap();
    assert!(queued.lines().count() == 1 && queued.contains("afterok:77"), "{queued}");
    let (_, said) = build(folder.path(), "slurm.db", &data.join("cache"));
    assert!(!said.contains("to embed"), "{said}");

    let command = |file: &str| {
        let yaml = std::fs::read_to_string(cluster.join(file)).unwrap();
        let command = yaml.lines().find_map(|line| line.trim().strip_prefix("- exec ")).unwrap();
        let here = format!("{}/", data.display());
        let command = command.replace("/data/", &here).replace("/work", data.to_str().unwrap());
        command.replace(&format!("{here}cache"), &format!("{here}pods"))
    };
    for index in ["0", "1"] {
        let variables = [("JOB_COMPLETION_INDEX", index), ("SHARDS", "2")];
        shell(&["-c", &command("kubernetes.yaml")], &variables);
    }
    let said = shell(&["-c", &command("build.yaml")], &[]);
    assert!(!said.contains("to embed"), "{said}");
    read_manifest(&data.join("federal.db")).expect("a bundle");
}

/// Given a shard that does not exist, or nothing to embed, then an error says what to write.
#[test]
fn wrong_shards_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["--shard", "4/4"][..], "with I from 0 to N-1"),
        (&["--shard", "one"], "with I from 0 to N-1"),
        (&["--shard", "0/4", "--embed", "none"], "nothing to embed"),
        (&[], "--shard"),
    ] {
        let output = builder("embed", folder.path()).args(arguments).output().expect("it runs");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{arguments:?}: {said}");
    }
}
