//! Whether a profile was recorded from a package: what its header repeats of the manifest.

use super::PackageMap;

/// What the header of a profile says of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It was recorded from it: the same workload, compiler, plan and flags.
    FromIt,
    /// It was recorded from another one.
    FromAnother,
    /// Nothing of any package.
    Unsaid,
}

impl PackageMap {
    /// The pairs that the recorder writes into the header of a profile of this package, in its
    /// order; what is empty is left out.
    #[must_use]
    pub fn provenance(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let plan = self.plan.iter().map(|line| pair("plan", line));
        let flags = self.flags.iter();
        let flags = flags.map(|(name, value)| pair(&format!("flag_{name}"), value));
        [
            pair("workload", &self.workload),
            pair("compiler_version", &self.compiler),
        ]
        .into_iter()
        .chain(plan)
        .chain(flags)
        .filter(|(_, value)| !value.is_empty())
        .collect()
    }
}

impl Recorded {
    /// Compares the provenance of a profile's header with that of a package, which is
    /// [`PackageMap::provenance`].
    #[must_use]
    pub fn compare(profile: &[(String, String)], package: &[(String, String)]) -> Self {
        let is_of_package = |name: &str| {
            matches!(name, "workload" | "compiler_version" | "plan") || name.starts_with("flag_")
        };
        let mut said = profile.iter().filter(|it| is_of_package(&it.0)).peekable();
        if said.peek().is_none() {
            Self::Unsaid
        } else if said.eq(package) {
            Self::FromIt
        } else {
            Self::FromAnother
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_of_a_package_with_the_same_workload_compiler_plan_and_flags() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
            pairs.iter().map(owned).collect()
        };
        let package = PackageMap {
            workload: "mlp".to_owned(),
            compiler: "9".to_owned(),
            plan: ["grid 2", "", "grid 3"].map(str::to_owned).to_vec(),
            flags: pairs(&[("tiles", "8"), ("seed", "")]),
            ..PackageMap::default()
        };
        let recorded =
            |said: &[(&str, &str)]| Recorded::compare(&pairs(said), &package.provenance());
        let mut whole = [
            ("workload", "mlp"),
            ("compiler_version", "9"),
            ("plan", "grid 2"),
            ("plan", "grid 3"),
            ("flag_tiles", "8"),
            ("sync_cycles", "100"),
        ];
        assert_eq!(recorded(&whole), Recorded::FromIt);
        assert_eq!(recorded(&whole[..4]), Recorded::FromAnother, "no flag");
        assert_eq!(recorded(&whole[1..]), Recorded::FromAnother, "no workload");
        assert_eq!(recorded(&whole[5..]), Recorded::Unsaid);
        whole[1].1 = "8";
        assert_eq!(recorded(&whole), Recorded::FromAnother, "an older compiler");
    }
}
