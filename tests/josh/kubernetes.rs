//! `packaging/kubernetes/josh.yaml`, without Kubernetes: whether its parts fit together, and what
//! its commands and settings do.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::pull::Case;
use crate::support::{Server, josh, run};

/// The manifest of one kind.
fn manifest(kind: &str) -> Value {
    let text = include_str!("../../packaging/kubernetes/josh.yaml");
    let documents = serde_yaml_ng::Deserializer::from_str(text);
    let mut documents = documents.map(|document| Value::deserialize(document).expect("YAML"));
    documents.find(|document| document["kind"] == kind).expect(kind)
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().expect(field)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect(field)
}

fn settings() -> toml::Table {
    text(&manifest("ConfigMap")["data"], "josh.toml").parse().expect("TOML")
}

#[test]
fn the_parts_of_the_manifest_fit_together() {
    let deployment = manifest("Deployment");
    let (spec, service) = (&deployment["spec"], manifest("Service"));
    let labels = &spec["template"]["metadata"]["labels"];
    assert!(labels.is_object() && spec["selector"]["matchLabels"] == *labels);
    assert_eq!(service["spec"]["selector"], *labels);
    assert_eq!(manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], *labels);

    let (pod, settings) = (&spec["template"]["spec"], settings());
    let volumes: Vec<&str> = list(pod, "volumes").iter().map(|v| text(v, "name")).collect();
    let [container] = list(pod, "containers") else { panic!("one container") };
    let [step] = list(pod, "initContainers") else { panic!("one init step") };
    assert_eq!(container["image"], step["image"]);
    // Every file that is named lies on a volume of the pod.
    let arguments = |of: &Value| list(of, "args").to_vec();
    let named = settings.values().filter_map(|value| value.as_str()).map(Value::from);
    for (of, paths) in [
        (container, named.chain(arguments(container)).collect::<Vec<_>>()),
        (step, arguments(step).into_iter().chain([step["env"][0]["value"].clone()]).collect()),
    ] {
        let mounts = list(of, "volumeMounts");
        assert!(mounts.iter().all(|mount| volumes.contains(&text(mount, "name"))), "{mounts:?}");
        for path in paths.iter().filter_map(Value::as_str).filter(|path| path.starts_with('/')) {
            let is_mounted = |mount: &Value| path.starts_with(text(mount, "mountPath"));
            assert!(mounts.iter().any(is_mounted), "{path}");
        }
    }

    let listen = settings["listen"].as_str().and_then(|listen| listen.rsplit(':').next());
    let port: u16 = listen.and_then(|port| port.parse().ok()).expect("a port");
    assert_eq!(container["ports"], json!([{ "name": "http", "containerPort": port }]));
    assert_eq!(service["spec"]["ports"][0]["targetPort"], "http");
    let drain = settings["drain_ms"].as_integer().expect("a number");
    let grace = pod["terminationGracePeriodSeconds"].as_i64().expect("a number");
    assert!(grace * 1000 > drain + 30_000, "open requests get 30 seconds after the drain");
}

/// Given the commands and the settings of the manifest, with folders of this machine, when they
/// run, then the init step gets a bundle that the server takes as verified, and all probes succeed.
#[test]
fn its_commands_serve_a_verified_bundle() {
    let case = Case::new();
    for folder in ["bundle", "trust", "access"] {
        std::fs::create_dir(case.path(folder)).unwrap();
    }
    std::fs::copy(case.path("key.pub"), case.path("trust/bundle.pub")).unwrap();
    let keys = case.path("access/keys.json").to_str().unwrap().to_string();
    assert!(run(&["keys", "add", "alice", "--keys", &keys]).status.success());
    let here = |text: &str| {
        let to = |folder: &str| format!("{}/", case.path(folder).display());
        let text = text.replace("/etc/josh/trust/", &to("trust"));
        text.replace("/etc/josh/access/", &to("access")).replace("/bundle/", &to("bundle"))
    };

    let deployment = manifest("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    let step = list(&pod["initContainers"][0], "args").iter().map(|a| a.as_str().expect("text"));
    let step: Vec<String> = step
        .map(|argument| match argument.starts_with("https://") {
            true => case.http.url(),
            false => here(argument),
        })
        .collect();
    let pulled = josh(&step.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
    assert!(pulled.status.success(), "{}", String::from_utf8_lossy(&pulled.stderr));

    let config = case.path("josh.toml");
    let map = manifest("ConfigMap");
    std::fs::write(&config, here(text(&map["data"], "josh.toml"))).unwrap();
    assert_eq!(pod["containers"][0]["args"], json!(["serve", "--config", "/etc/josh/josh.toml"]));
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let asked = &pod["containers"][0][probe]["httpGet"];
        assert_eq!((server.get(text(asked, "path")).status, text(asked, "port")), (200, "http"));
    }
    assert_eq!(server.get("/health").json()["bundle"]["signature"], "verified");
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 401);
}
